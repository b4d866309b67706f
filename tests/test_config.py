"""Configuration: everything that is wrong is named at once, and the docs list every setting."""

from __future__ import annotations

import json
import re
import secrets
import stat
from pathlib import Path

import pytest

from hub.config import SUPERSEDED, Configuration, ConfigurationError, load_configuration
from hub.core.database_urls import database_settings
from hub.data_dir import make_data_dir, secret_key
from hub.secret_files import SECRETS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch, tmp_path):
    for name in (*Configuration.model_fields, *SUPERSEDED, *(f"{name}_file" for name in SECRETS)):
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HUB_DATA_DIR", str(tmp_path / "data"))


def test_defaults_are_usable_on_a_fresh_machine():
    config = load_configuration(None)
    assert config.effective_database_url == ""
    assert config.time_zone == "Asia/Tokyo"
    assert config.aws_region == "ap-northeast-1"


def test_every_problem_is_named_at_once(monkeypatch):
    monkeypatch.setenv("HUB_PORT", "99999")
    monkeypatch.setenv("DATABASE_URL", "mysql://db")
    monkeypatch.setenv("TIME_ZONE", "Mars/Base")
    monkeypatch.setenv("ENCRYPTION_KEY", "k")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert {line.split(":")[0] for line in caught.value.problems} == {
        "HUB_PORT",
        "DATABASE_URL",
        "TIME_ZONE",
        "ENCRYPTION_KEY",
    }


def test_a_secret_is_never_repeated_in_a_problem(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "mysql://u:hunter2@db")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert "hunter2" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")  # Apprise imports every channel it knows
def test_an_alert_url_that_nothing_can_be_sent_to_is_named_at_start_without_its_secrets(monkeypatch):
    monkeypatch.setenv("ALERT_URLS", "json://hooks.example/a, slac://hunter2/x")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert "ALERT_URLS: URL 2 (scheme slac)" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("ALERT_URLS", "json://hooks.example/a")
    assert load_configuration(None).alert_urls == ("json://hooks.example/a",)


def test_production_needs_a_secret_key_and_named_hosts(monkeypatch):
    monkeypatch.setenv("HUB_ENV", "production")
    monkeypatch.setenv("ALLOWED_HOSTS", "*")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert "SECRET_KEY" in str(caught.value)
    assert "ALLOWED_HOSTS" in str(caught.value)


@pytest.mark.parametrize(
    "key",
    ["x", secrets.token_urlsafe(36)[:49], "abcd" * 20, "django-insecure-" + secrets.token_urlsafe(48)],
    ids=["one character", "49 characters", "four different characters", "made for a draft"],
)
def test_production_refuses_a_secret_key_that_can_be_guessed_without_repeating_it(monkeypatch, key):
    monkeypatch.setenv("HUB_ENV", "production")
    monkeypatch.setenv("SECRET_KEY", key)
    with pytest.raises(ConfigurationError, match="SECRET_KEY") as caught:
        load_configuration(None)
    assert len(key) < 10 or key not in str(caught.value)
    monkeypatch.setenv("SECRET_KEY", secrets.token_urlsafe(48))
    assert load_configuration(None).hub_env == "production"


def test_the_conformance_fixture_is_refused_in_production(monkeypatch):
    monkeypatch.setenv("HUB_ENV", "production")
    monkeypatch.setenv("SECRET_KEY", secrets.token_urlsafe(48))
    monkeypatch.setenv("HUB_MCP_CONFORMANCE", "1")
    with pytest.raises(ConfigurationError, match="HUB_MCP_CONFORMANCE"):
        load_configuration(None)


def test_settings_of_the_plain_rag_server_make_a_database_url(monkeypatch):
    monkeypatch.setenv("POSTGRES_HOST", "db")
    monkeypatch.setenv("POSTGRES_PASSWORD", "p@ss/word")
    assert load_configuration(None).effective_database_url == "postgresql://postgres:p%40ss%2Fword@db:5432/hub"


def test_several_servers_of_one_database_are_tried_for_the_one_that_takes_writes():
    one = database_settings("postgresql://hub:p%40@db1:5432,db2/kb?sslmode=verify-full")
    assert (one["HOST"], one["PORT"], one["PASSWORD"], one["NAME"]) == ("db1,db2", "5432,5432", "p@", "kb")
    assert one["OPTIONS"]["target_session_attrs"] == "read-write"
    assert one["OPTIONS"]["sslmode"] == "verify-full"
    alone = database_settings("postgresql://hub@db1/kb?connect_timeout=9")
    assert (alone["HOST"], alone["PORT"], alone["OPTIONS"]) == ("db1", "", {"connect_timeout": "9"})


def test_replicas_are_urls_of_one_server_each(monkeypatch):
    monkeypatch.setenv("DATABASE_REPLICA_URLS", "postgresql://hub@r1/hub, postgresql://hub@r2:5433/hub")
    assert len(load_configuration(None).database_replica_urls) == 2
    monkeypatch.setenv("DATABASE_REPLICA_URLS", "postgresql://hub:hunter2@r1,r2/hub")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert "DATABASE_REPLICA_URLS" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_ports_for_some_hosts_only_are_refused(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://hub:hunter2@/hub?host=a,b,c&port=1,2")
    with pytest.raises(ConfigurationError, match="one port for all hosts") as caught:
        load_configuration(None)
    assert "hunter2" not in str(caught.value)


def test_superseded_settings_are_named_with_what_replaces_them(monkeypatch):
    monkeypatch.setenv("MINIO_URL", "http://m")
    assert any("MINIO_URL" in line and "S3_BUCKET" in line for line in load_configuration(None).remarks())


def test_a_search_engine_needs_its_url(monkeypatch):
    monkeypatch.setenv("SEARCH_INDEX", "qdrant")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert {line.split(":")[0] for line in caught.value.problems} == {"QDRANT_URL"}
    monkeypatch.setenv("QDRANT_URL", "http://qdrant:6333")
    load_configuration(None)


def test_a_language_model_is_configured_whole_or_not_at_all(monkeypatch):
    monkeypatch.setenv("LLM_PROVIDER", "openai-compatible")
    monkeypatch.setenv("LLM_PRICE_IN", "3")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(None)
    assert {line.split(":")[0] for line in caught.value.problems} == {
        "LLM_MODEL",
        "LLM_BASE_URL",
        "LLM_PRICE_IN and LLM_PRICE_OUT",
    }
    monkeypatch.setenv("LLM_MODEL", "strong")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.setenv("LLM_PRICE_OUT", "15")
    config = load_configuration(None)
    assert (config.llm_provider, config.remarks()) == ("openai", [])


def test_a_limit_in_money_needs_prices(monkeypatch):
    settings = {"LLM_PROVIDER": "bedrock", "LLM_MODEL": "m", "HUB_LLM_COST_BUDGET": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="LLM_PRICE_IN"):
        load_configuration(None)


def test_a_dot_env_file_is_read_and_the_environment_wins(monkeypatch, tmp_path):
    env = tmp_path / ".env"
    env.write_text("HUB_PORT=8123\nLOG_LEVEL=DEBUG\n")
    monkeypatch.setenv("LOG_LEVEL", "ERROR")
    config = load_configuration(env)
    assert (config.hub_port, config.log_level) == (8123, "ERROR")


def test_secrets_may_be_in_files_named_in_the_environment_or_the_file(monkeypatch, tmp_path):
    key, token, providers = (tmp_path / name for name in ("key", "token", "providers"))
    key.write_text("k" * 25 + "0123456789" * 3 + "\n")
    token.write_text("t" * 40)
    providers.write_text(
        json.dumps([{"id": "office", "name": "庁内", "issuer": "https://id.example", "client_id": "hub"}]) + "\n"
    )
    env = tmp_path / ".env"
    env.write_text(f"SECRET_KEY_FILE={key}\n")
    monkeypatch.setenv("HUB_METRICS_TOKEN_FILE", str(token))
    monkeypatch.setenv("HUB_OIDC_PROVIDERS_FILE", str(providers))
    config = load_configuration(env)
    assert config.secret_key == key.read_text().rstrip()
    assert config.hub_metrics_token == "t" * 40
    assert [one.id for one in config.hub_oidc_providers] == ["office"]


def test_a_secret_twice_and_a_file_of_no_use_are_named_at_once(monkeypatch, tmp_path):
    (tmp_path / "empty").write_text("\n")
    monkeypatch.setenv("LLM_API_KEY", "sk-1")
    monkeypatch.setenv("LLM_API_KEY_FILE", str(tmp_path / "empty"))
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("HUB_TOKEN_FILE", str(tmp_path / "empty"))
    with pytest.raises(ConfigurationError) as refused:
        load_configuration(None)
    assert len(refused.value.problems) == 3
    said = str(refused.value)
    assert all(text in said for text in ("LLM_API_KEY and LLM_API_KEY_FILE", "No such file", "it is empty"))
    assert "sk-1" not in said


def test_every_secret_setting_may_be_in_a_file():
    secret = re.compile(
        r"password|token$|_key$|_keys$|providers$|alert_urls|replica_urls|otlp_headers|^(database|redis)_url$"
    )
    named = {name for name in Configuration.model_fields if secret.search(name)}
    assert named - {"encryption_key", "encryption_kms_key"} == set(SECRETS)


def test_the_generated_secret_key_stays_and_is_private():
    config = load_configuration(None)
    first = secret_key(config)
    assert len(first) >= 50
    assert secret_key(config) == first
    assert stat.S_IMODE((config.hub_data_dir / "secret_key").stat().st_mode) == 0o600


def test_the_data_folder_is_for_its_owner_only(tmp_path):
    path = tmp_path / "wide"
    path.mkdir(mode=0o755)
    assert stat.S_IMODE(make_data_dir(path).stat().st_mode) == 0o700


@pytest.mark.parametrize("document", ["docs/settings.md", ".env.example"])
def test_every_setting_is_documented(document):
    text = (ROOT / document).read_text()
    missing = [name.upper() for name in Configuration.model_fields if name.upper() not in text]
    assert missing == []
