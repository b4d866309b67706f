"""Rules and dashboard ask for metrics that there are, and the compose file brings them where they are read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from hub.backups.models import BackupRun
from hub.core.measures import FAMILIES
from hub.site.counted_troubles import ERRORS_SHARE, FAILING_ANYHOW_FROM, FAILING_FROM, WITHIN

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
NAME = re.compile(r"\bhub_[a-z_]+")


def expressions() -> list[str]:
    rules = yaml.safe_load((DEPLOY / "prometheus" / "hub-rules.yml").read_text())["groups"]
    board = json.loads((DEPLOY / "grafana" / "dashboards" / "hub.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [rule["expr"] for group in rules for rule in group["rules"]] + asked


@pytest.mark.django_db
@pytest.mark.usefixtures("queue")
def test_every_metric_that_is_asked_for_is_there(client):
    BackupRun.objects.create(name="x", path="/backup", taken_at=timezone.now())
    client.get("/healthz")
    page = client.get("/metrics", headers={"Host": "localhost"}).content.decode()
    described = set(re.findall(r"^# HELP (\S+)", page, re.MULTILINE))
    samples = {one.name for family in text_string_to_metric_families(page) for one in family.samples}
    known = described | samples | {family.name for family in FAMILIES}
    known |= {f"{name}_bucket" for name in known} | {f"{name}_total" for name in known}
    asked = {name for expression in expressions() for name in NAME.findall(expression)}
    assert len(asked) > 15
    assert asked - known == set()


def test_failing_requests_are_told_from_the_same_numbers_on_as_by_the_hub_itself():
    rules = yaml.safe_load((DEPLOY / "prometheus" / "hub-rules.yml").read_text())["groups"]
    (rule,) = [rule["expr"] for group in rules for rule in group["rules"] if rule["alert"] == "HubErrors"]
    assert set(NAME.findall(rule)) == {"hub_http_answers_total"}  # of callers who are known
    bounds = [float(number) for number in re.findall(r">=? ([0-9.]+)", rule)]
    assert bounds == [FAILING_ANYHOW_FROM, FAILING_FROM, ERRORS_SHARE]
    assert set(re.findall(r"\[(\d+)m\]", rule)) == {str(int(WITHIN.total_seconds() // 60))}


def test_what_the_compose_file_mounts_of_ours_is_there():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    mounted = [volume.split(":")[0] for one in services.values() for volume in one.get("volumes", [])]
    ours = [path for path in mounted if path.startswith("./")]
    assert len(ours) >= 4
    assert [path for path in ours if not (ROOT / path).exists()] == []
    assert [
        one["image"] for one in services.values() if one["image"].endswith(":latest") or ":" not in one["image"]
    ] == []


def test_our_services_have_no_rights_that_they_do_not_need():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for name in ("migrate", "web", "worker", "beat"):
        one = services[name]
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
        assert one["mem_limit"]
