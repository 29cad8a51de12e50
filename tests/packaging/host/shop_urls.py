"""The project's addresses; two names of its own are names of ours, too."""

from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path
from django.views.generic import TemplateView

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", TemplateView.as_view(template_name="base.html"), name="overview"),
    path("jobs/", TemplateView.as_view(template_name="base.html"), name="jobs"),
    path("enter/", LoginView.as_view(template_name="enter.html"), name="login"),
    path("ops/", include("atributo_site.urls")),
]
