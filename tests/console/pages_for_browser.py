"""Pages with one fault each, for the tests of the browser fixtures."""

from csp.decorators import csp_exempt
from django.http import HttpResponse
from django.urls import path

PAGE = '<!doctype html><html lang="en"><title>t</title><link rel="icon" href="data:,">{}</html>'


def page(body):
    return lambda request: HttpResponse(PAGE.format(body))


def script(text):
    return lambda request: HttpResponse(text, content_type="text/javascript")


def who(request):
    groups = [group.name for group in request.user.groups.all()]
    return HttpResponse(PAGE.format(f"<p>{request.user} of {groups}</p>"))


urlpatterns = [
    path("good", page("<h1>good</h1>")),
    path("who", who),
    path("console", page('<script src="/console.js"></script>')),
    path("console.js", script("console.error('it hurts')")),
    path("throws", page('<script src="/throws.js"></script>')),
    path("throws.js", script("throw new Error('it broke')")),
    path("missing", page('<script src="/nowhere.js"></script>')),
    path("inline", page("<script>document.title = 'inline'</script>")),
    path("styled", page('<p style="color: red">red</p>')),
    path("abroad", csp_exempt()(page('<img src="http://127.0.0.1:9/picture.png" alt="">'))),
]
