"""The raw lists at /admin/, inside the frame of the whole site."""

from django.contrib import admin


class AtributoAdminSite(admin.AdminSite):
    site_title = site_header = "Atributo"
    index_title = "Raw lists"
    enable_nav_sidebar = False
