"""Our addresses and those of django-rq's pages, for those who add them to their project."""

from django.urls import include, path

from atributo_site.site_urls import urlpatterns as ours

urlpatterns = [*ours, path("django-rq/", include("django_rq.urls"))]
