"""Users: made with a role in one page, disabled, seen, their passwords reset."""

import re

import pytest
from django.contrib.auth.models import User

from atributo_site.core.events import Actor, acting, record
from atributo_site.core.models import Event
from atributo_site.web import tokens

pytestmark = pytest.mark.django_db
USERS = "/system/users/"


@pytest.fixture
def admin(client_as):
    return client_as("admin")


def filled(client, path=USERS, **fields):
    number = re.search(r'name="number" value="([^"]+)"', client.get(path).text)[1]
    return {"number": number, **fields}


def page_of(user):
    return f"{USERS}{user.pk}/"


def shown(answer):
    """Return the password that the page shows once."""
    return re.search(r'data-copy="([a-z2-9-]{23})"', answer.text)[1]


def test_a_user_gets_a_role_and_a_password_in_one_page(admin):
    answer = admin.post(USERS, filled(admin, username="nora", role="operator", email="n@o.org"))
    nora = User.objects.get(username="nora")
    assert nora.check_password(shown(answer))
    assert ([group.name for group in nora.groups.all()], nora.email) == (["operator"], "n@o.org")
    event = Event.objects.get(kind="user.added")
    assert (event.subject, event.facts) == ("user:nora", {"role": "operator"})


def test_a_form_that_is_sent_twice_makes_one_user(admin):
    form = filled(admin, username="nora", role="viewer")
    admin.post(USERS, form)
    assert "already sent" in admin.post(USERS, {**form, "username": "olaf"}, follow=True).text
    assert not User.objects.filter(username="olaf").exists()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"username": "admin"}, "already exists"),
        ({"username": "no spaces"}, "valid username"),
        ({"username": "nora", "role": "superuser"}, "Select a valid choice"),
        ({"username": "nora", "email": "nowhere"}, "valid email"),
    ],
)
def test_what_is_wrong_is_said_and_nobody_is_made(admin, fields, why):
    answer = admin.post(USERS, filled(admin, **{"role": "viewer", **fields}))
    assert answer.status_code in (400, 409) and why in answer.text
    assert User.objects.count() == 1 and not Event.objects.filter(kind="user.added").exists()


def test_a_disabled_user_is_let_in_neither_by_session_nor_by_token(admin, client_as, user_as):
    vera, client = user_as("viewer", "vera"), client_as("viewer")
    _, text = tokens.make_token(vera, "ci", "view", 1)
    vera_client = client_as(None)
    vera_client.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    path = f"{page_of(vera)}disable"
    admin.post(path, {"reason": "typed by nobody"})
    assert User.objects.get(pk=vera.pk).is_active
    assert admin.post(path, filled(admin, path, reason="left")).status_code == 302
    assert vera_client.get("/").status_code == 302
    bearer = {"Authorization": f"Bearer {text}"}
    assert client_as(None).get("/api/v1/me", headers=bearer).status_code == 401
    assert client.get("/").status_code == 200
    assert Event.objects.get(kind="user.disabled").facts == {"reason": "left"}
    admin.post(f"{page_of(vera)}enable")
    vera.refresh_from_db()
    assert vera.is_active


def test_nobody_disables_or_demotes_oneself(admin, user_as):
    own = page_of(user_as("admin"))
    asked = filled(admin, f"{own}disable")
    assert "cannot disable yourself" in admin.post(f"{own}disable", asked, follow=True).text
    assert "cannot change your own role" in admin.post(own, {"role": "viewer"}).text
    assert User.objects.get(username="admin").groups.get().name == "admin"


def test_no_form_makes_or_unmakes_a_superuser(admin, user_as):
    vera, root = user_as("viewer", "vera"), User.objects.create_superuser("root")
    for person, role in ((vera, "superuser"), (root, "viewer")):
        assert "superuser" in admin.post(page_of(person), {"role": role}).text
    assert User.objects.get(is_superuser=True) == root
    assert vera.groups.get().name == "viewer"


def test_a_reset_password_ends_sessions_and_is_shown_once(admin, user_as, client_as):
    vera = user_as("viewer", "vera")
    path = f"{page_of(vera)}reset"
    form = filled(admin, path)
    password = shown(admin.post(path, form))
    assert User.objects.get(pk=vera.pk).check_password(password)
    assert password not in str(list(Event.objects.values_list("facts", flat=True)))
    assert "already reset" in admin.post(path, form, follow=True).text
    assert User.objects.get(pk=vera.pk).check_password(password)


def test_the_list_shows_when_somebody_was_seen_and_no_hash(admin, person):
    with acting(Actor("vera", "rest")):
        record("thing.happened", "thing:1")
    for page in (admin.get(USERS), admin.get(page_of(person))):
        assert re.search(r"just now|\d+ s ago", page.text)
        assert "argon2" not in page.text
    assert "argon2" not in admin.get(f"/admin/auth/user/{person.pk}/change/").text


def test_the_list_is_filtered_by_name_role_and_state(admin, user_as):
    for number in range(20):
        user_as("viewer", f"vera-{number}")
    assert "vera-7<" in admin.get(f"{USERS}?q=ERA-7").text
    assert "vera-7<" not in admin.get(f"{USERS}?role=operator").text
    assert "No users match" in admin.get(f"{USERS}?state=disabled").text
    assert "No users match" in admin.get(f"{USERS}?state=odd").text


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_only_administrators_see_users(role, client_as, user_as):
    client = client_as(role)
    assert USERS not in client.get("/system/").text
    assert client.get(USERS).status_code == 403
