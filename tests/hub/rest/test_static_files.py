"""Browsers keep the files of this code for good, and ask again for those that another process has otherwise."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.templatetags.static import static
from django.test import Client

import hub.version
from hub.rest.static_files import FOR_GOOD
from hub.version import static_edition

pytestmark = pytest.mark.django_db


def get(path, **headers):
    response = Client().get(path, headers=headers)
    response.close()
    return response


def test_the_files_of_a_page_are_kept_for_good_under_addresses_of_this_edition():
    page = Client().get("/admin/login/").content.decode()
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page)
    assert len(addresses) > 3
    for address in addresses:
        assert address.startswith(f"/static/{settings.STATIC_EDITION}/")
        assert get(address)["Cache-Control"] == FOR_GOOD
    first = get(addresses[0])
    again = get(addresses[0], **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again["Cache-Control"]) == (304, FOR_GOOD)


@pytest.mark.parametrize("prefix", ["", "0123456789ab/"])
def test_an_address_of_another_edition_gets_what_is_here_for_a_minute(prefix):
    response = get(f"/static/{prefix}hub/copy.js")
    assert (response.status_code, response["Cache-Control"]) == (200, "max-age=60, public")


def test_a_refusal_is_not_kept():
    response = Client().post(static("hub/copy.js"))
    assert (response.status_code, response["Cache-Control"]) == (405, "no-store")


@pytest.mark.parametrize("name", ["hub/none.js", "../settings.py", "a/b/hub/copy.js"])
def test_what_is_no_static_file_is_not_found(name):
    assert get(static("") + name).status_code == 404


def test_another_file_or_another_library_is_another_edition(tmp_path, monkeypatch):
    script, pins = tmp_path / "hub" / "static" / "a.js", tmp_path / "requirements" / "base.txt"
    for path in (script, pins):
        path.parent.mkdir(parents=True)
        path.write_text("1")
    monkeypatch.setattr(hub.version, "BASE_DIR", tmp_path)
    editions = [static_edition()]
    for path in (script, pins):
        path.write_text("2")
        editions.append(static_edition())
    script.rename(script.with_name("b.js"))
    editions.append(static_edition())
    assert len(set(editions)) == 4
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in editions)
