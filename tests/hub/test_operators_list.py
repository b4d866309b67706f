"""What operators of a production shape missed: probes by address, measures in trouble, a dead beat, the first token."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from time import time as clock

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import OperationalError

from hub.access.models import AccessToken
from hub.celery import app
from hub.core.beat_signs import MISSED_KEY, SENT_KEY, sent_seconds_ago
from hub.core.disk_room import Room
from hub.core.errors import Unauthenticated
from hub.core.valkey import client_of
from hub.management.commands import doctor
from hub.site.alerts import troubles
from hub.site.server_options import server_options
from knowledge.documents.workers import CLOCKS_APART, beat, wrong_clocks

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_answer_by_any_name_and_nothing_else_does(client, settings, path):
    settings.ALLOWED_HOSTS = ["hub.example"]
    answer = client.get(path, headers={"Host": "10.0.0.7:8000"})
    assert answer.status_code in {200, 503}
    assert answer.json()
    assert client.get("/admin/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


def test_metrics_say_that_the_database_is_away_and_give_the_others(client, monkeypatch):
    def away(_self: object) -> None:
        raise OperationalError("no connection")

    monkeypatch.setattr("hub.site.health.DatabaseMetrics._families", away)
    page = client.get("/metrics", headers={"Host": "localhost"})
    assert page.status_code == 200
    text = page.content.decode()
    assert "hub_database_up 0.0" in text
    assert "hub_http_requests_total" in text
    assert "hub_queue_depth" not in text


@pytest.fixture
def last_sign():
    client = client_of(django_settings.REDIS_CLIENT_URL)
    client.delete(SENT_KEY, MISSED_KEY)
    yield lambda seconds_ago, key=SENT_KEY: client.set(key, clock() - seconds_ago)
    client.delete(SENT_KEY, MISSED_KEY)


def alive(process: str, capsys) -> tuple[int, str]:
    capsys.readouterr()
    try:
        call_command("alive", process)
    except SystemExit as ended:
        return int(str(ended.code)), "".join(capsys.readouterr()).strip()
    return 0, capsys.readouterr().out.strip()


def test_health_checks_ask_for_signs_of_life_of_this_machine(last_sign, capsys, monkeypatch):
    assert alive("beat", capsys) == (1, "no sign of life")
    last_sign(5)
    assert alive("beat", capsys) == (0, "alive")
    last_sign(90)
    assert alive("beat", capsys) == (1, "no sign of life")
    beat("another:1")
    assert alive("worker", capsys) == (1, "no sign of life")
    beat(f"{socket.gethostname()}:1")
    assert alive("worker", capsys) == (0, "alive")

    def away(*_given: object) -> None:
        raise OperationalError("no connection")

    monkeypatch.setattr("hub.management.commands.alive._worker_is_alive", away)
    assert alive("worker", capsys) == (1, "it can't be asked: OperationalError")


def test_a_dead_beat_is_told_by_alerts_doctor_and_metrics(client, last_sign, capsys):
    assert sent_seconds_ago() is None
    assert "beat" not in troubles()  # it may just be starting
    last_sign(90, MISSED_KEY)  # the queue was emptied meanwhile, and it did not send anything again
    assert "beat" in troubles()
    last_sign(5)
    assert "beat" not in troubles()
    assert 4 < (sent_seconds_ago() or 0) < 60
    last_sign(90)
    assert "beat" in troubles()
    text = client.get("/metrics", headers={"Host": "localhost"}).content.decode()
    (line,) = [line for line in text.splitlines() if line.startswith("hub_beat_seen_seconds ")]
    assert float(line.split()[1]) >= 90
    call_command("doctor", no_color=True)
    assert "note     beat: it sent its last work 9" in capsys.readouterr().out
    beat("here:1")
    call_command("doctor", no_color=True)
    assert "warning  beat: it sent its last work 9" in capsys.readouterr().out


def test_a_worker_with_a_wrong_clock_is_told_by_alerts_and_doctor(capsys, monkeypatch):
    beat("here:1")
    assert wrong_clocks() == {}
    with monkeypatch.context() as later:
        later.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + timedelta(days=1))
        beat("there:1")
    ((name, ahead),) = wrong_clocks().items()
    assert name == "there:1"
    assert 86_390 < ahead < 86_410
    assert "there:1 (+864" in troubles()["clock"]
    call_command("doctor", no_color=True)
    assert "clocks: workers are off the database's clock" in capsys.readouterr().out


def test_nothing_that_is_queued_expires_sooner_than_clocks_may_be_apart():
    queued = [entry.get("options", {}).get("expires") for entry in app.conf.beat_schedule.values()]
    app.loader.import_default_modules()
    own = [task.expires for name, task in app.tasks.items() if not name.startswith("celery.")]
    known = [seconds for seconds in (*queued, *own) if seconds is not None]
    assert len(known) > 20
    assert min(known) >= 2 * CLOCKS_APART.total_seconds()


def test_the_first_token_of_a_shared_database_is_made_on_the_command_line_and_no_second_one(settings, capsys):
    settings.EMBEDDED_DATABASE = False
    User.objects.create_superuser("admin", password="長い合言葉は忘れにくいものがよい")
    call_command("token", "create", "--user", "admin", "--scopes", "admin")
    assert capsys.readouterr().out.startswith("hub_")
    with pytest.raises(Unauthenticated):
        call_command("token", "create", "--user", "admin")
    AccessToken.objects.update(revoked_at="2026-01-01T00:00:00Z")
    with pytest.raises(Unauthenticated):  # a revoked one was one, too
        call_command("token", "create", "--user", "admin")


def test_the_servers_own_lines_have_the_form_of_all_others():
    assert server_options(host="127.0.0.1", port=1)["log_config"] is None


def test_a_disk_that_is_nearly_full_is_told_by_its_folder(client, monkeypatch, settings):
    full = Room(settings.HUB_DATA_DIR, 3 * 1024**3, 100 * 1024**3)
    assert full.is_nearly_full
    assert not Room(settings.HUB_DATA_DIR, 90 * 1024**3, 2000 * 1024**3).is_nearly_full
    assert not Room(settings.HUB_DATA_DIR, 3 * 1024**3, 4 * 1024**3).is_nearly_full
    monkeypatch.setattr("hub.site.alerts.rooms", lambda: [full])
    assert str(settings.HUB_DATA_DIR) in troubles()[f"storage:{settings.HUB_DATA_DIR}"]
    text = client.get("/metrics", headers={"Host": "localhost"}).content.decode()
    assert f'hub_disk_free_bytes{{folder="{settings.HUB_DATA_DIR}"}}' in text


@pytest.mark.parametrize(
    ("user", "leaves", "landlock", "status", "said"),
    [
        (1000, True, 4, "ok", "their own file alone"),
        (1000, True, 0, "note", "system user can read"),
        (0, True, 4, "ok", "are no root"),
        (0, True, 0, "warning", "they can read all files"),
        (0, False, 4, "note", "Landlock alone keeps"),
        (0, False, 0, "warning", "nothing keeps"),
    ],
)
def test_doctor_says_what_parser_children_are_kept_from(monkeypatch, user, leaves, landlock, status, said):
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(doctor, "can_leave_superuser", lambda: leaves)
    monkeypatch.setattr(doctor, "landlock_version", lambda: landlock)
    monkeypatch.setattr(doctor, "can_refuse_network", lambda: True)
    line = doctor._parser_children()
    assert line["status"] == status
    assert said in str(line["detail"])
