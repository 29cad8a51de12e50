"""Markdown becomes HTML: nothing in a file passes as markup, and links stay on this site."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.manual import pages
from atributo_site.manual.markdown import anchor_of, render
from tests.console.page_elements import INJECTION, Elements


@pytest.fixture
def rendered(tmp_path):
    """Return a function: rendered("text", "docs/x.md") → the page at that path."""

    def show(text, path="docs/queues.md"):
        file = tmp_path / "page.md"
        file.write_text(text)
        return render(pages.Page("queues", path, file), lambda kind, name: f"/{kind}/{name}/")

    yield show


def test_the_title_belongs_to_the_frame_and_headings_to_the_contents(rendered):
    page = rendered("# Queues\n\nText\n\n## A *first* job\n\n### `code` here\n\n#### Deep")
    assert page.title == "Queues"
    assert [(each.anchor, each.text, each.level) for each in page.contents] == [
        ("a-first-job", "A first job", 2),
        ("code-here", "code here", 3),
    ]
    assert '<h2 id="a-first-job">' in page.body and "<h1" not in page.body


def test_two_headings_of_one_name_have_two_anchors(rendered):
    page = rendered("# T\n## Same\n## Same\n")
    assert [each.anchor for each in page.contents] == ["same", "same-1"]


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("manifest.md", "/page/manifest/"),
        ("manifest.md#fields-of-a-script", "/page/manifest/#fields-of-a-script"),
        ("decisions/README.md", "/page/decisions/"),
        ("../CHANGELOG.md", "/page/changelog/"),
        ("README.md", "/page//"),
        ("#figures", "#figures"),
        ("https://example.com/x", "https://example.com/x"),
    ],
)
def test_a_link_leads_to_the_page_on_this_site(link, leads_to, rendered):
    assert f'<a href="{leads_to}"' in rendered(f"# T\n[words]({link})").body


@pytest.mark.parametrize(
    "link", ["nowhere.md", "../manage.py", "../../etc/passwd", "/etc/passwd", "ftp://a/b", "//a/b"]
)
def test_a_link_to_anything_else_is_plain_text(link, rendered):
    body = rendered(f"# T\n[words]({link})").body
    assert body == "<p><span>words</span></p>\n"


def test_a_link_that_runs_a_script_is_no_link(rendered):
    assert "<a" not in rendered("# T\n[words](javascript:alert(1))").body


@pytest.mark.parametrize("form", ["{}", "    {}", "```\n{}\n```", "`{}`", "## {}", "![{}](x.png)"])
def test_markup_in_a_file_is_text(form, rendered):
    seen = Elements(str(rendered("# T\n\n" + form.format(INJECTION)).body))
    assert seen.handlers == [] and "injected" not in seen.ids
    assert [source for source in seen.images if source != "/picture/x.png/"] == []


@given(st.text(max_size=60))
def test_an_anchor_has_no_space_and_no_quote(text):
    assert not re.search(r"[\s\"'<>]", anchor_of(text).replace("\n", "")) or "\n" in text


def test_a_picture_comes_from_this_site(rendered):
    body = rendered("# T\n![Words](images/map.png)\n![Abroad](http://a.example/map.png)").body
    assert Elements(str(body)).images == ["/picture/map.png/"] * 2


def test_code_can_be_copied_as_it_is(rendered):
    body = rendered('# T\n```sh\necho "a" & b\n```').body
    assert 'data-copy="echo &quot;a&quot; &amp; b\n"' in body


def test_a_changed_file_is_rendered_again(rendered, tmp_path):
    assert "old" in rendered("# T\nold").body
    file = Path(tmp_path / "page.md")
    file.write_text("# T\nnew")
    page = pages.Page("queues", "docs/queues.md", file)
    assert "new" in render(page, lambda kind, name: f"/{kind}/{name}").body
