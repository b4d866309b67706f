"""Import this to have the admin pages of all apps registered, in the order of INSTALLED_APPS.

They bring in most of the program: the addresses do so, not each process that sets Django up.
"""

from django.contrib import admin

admin.autodiscover()
