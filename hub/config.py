"""The configuration: every setting, read from the environment and ``.env`` and checked together.

``docs/settings.md`` and ``.env.example`` list what is here; a test holds them to it.
"""

from __future__ import annotations

import os
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, InstanceOf, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from hub.core.client_address import Networks
from hub.core.context import purpose_of
from hub.core.database_urls import hosts_of
from hub.core.encryption.key_text import parse_keys
from hub.core.identity_providers import IdentityProvider, check_providers, read_providers
from hub.core.tracing import can_trace
from hub.secret_files import SecretFiles, SecretFilesUnread

LEAST_TOKEN_CHARS = 32


def _split_commas(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


MCP_TOOLSETS = ("default", "review", "retrieval", "knowledge", "operation", "all")


def _check_toolsets(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or set(names) - set(MCP_TOOLSETS):
        raise ValueError(f"expected one or more of {', '.join(MCP_TOOLSETS)}")
    return names


def _check_transports(value: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := set(value) - {"stdio", "http"}:
        raise ValueError(f"unknown transports {sorted(unknown)}, expected stdio and http")
    return value


def _has_scheme(*known: str, expected: str) -> Callable[[str], str]:
    """Make a check that a URL, where one is given, has one of these schemes."""

    def check(value: str) -> str:
        if value and urlsplit(value).scheme not in known:
            raise ValueError(f"expected {expected}")
        return value

    return check


def _read_by(read: Callable[[str], object]) -> Callable[[str], str]:
    """Make a check that a text can be read; it stays as it is."""

    def check(value: str) -> str:
        read(value)
        return value

    return check


def _check_alert_urls(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        return value
    from apprise import Apprise  # a second and a half, for those who want alerts only

    for number, url in enumerate(value, 1):
        if not Apprise.instantiate(url, suppress_exceptions=True):
            scheme = url.partition("://")[0] if "://" in url else ""  # the rest may hold a password
            what = f"scheme {scheme[:20]}" if scheme else "no scheme"
            raise ValueError(f"URL {number} ({what}) can't be used, expected Apprise URLs such as mailtos://…")
    return value


def _check_time_zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("expected an IANA name such as Asia/Tokyo") from error
    return value


def _read_networks(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return Networks(part.strip() for part in value.split(",") if part.strip())
    except ValueError as error:
        raise ValueError(f"expected addresses or networks such as 10.0.0.5,10.1.0.0/16: {error}") from error


def _check_secret(value: str) -> str:
    if value and len(value) < LEAST_TOKEN_CHARS:
        raise ValueError(f"expected {LEAST_TOKEN_CHARS} random characters or more")
    return value


def _check_anchors(value: tuple[str, ...]) -> tuple[str, ...]:
    for text in value:
        parts = urlsplit(text)
        is_file = not parts.scheme and text.startswith("/")
        is_bucket = parts.scheme == "s3" and bool(parts.netloc)
        is_syslog = parts.scheme == "syslog" and bool(parts.hostname or parts.path)
        if not (is_file or is_bucket or is_syslog or text == "none"):
            raise ValueError("expected /path, s3://bucket/prefix, syslog:/dev/log, syslog://host:514 or none")
    return value


def _read_headers(value: object) -> object:
    """Read ``name=value`` pairs with commas between; values are percent-encoded, as OpenTelemetry has them."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    if any(not name.strip() or not sign for name, sign, _rest in pairs):
        raise ValueError("expected name=value, comma separated")
    return {name.strip().lower(): unquote(rest.strip()) for name, _sign, rest in pairs}


def _check_source_roots(value: tuple[str, ...]) -> tuple[str, ...]:
    for root in value:
        if not root.startswith(("/", "s3://")):
            raise ValueError("expected absolute folders such as /srv/documents, and buckets such as s3://bucket/prefix")
    return value


CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
SourceRoots = Annotated[CommaList, AfterValidator(_check_source_roots)]
OtlpHeaders = Annotated[dict[str, str], NoDecode, BeforeValidator(_read_headers)]
AlertUrls = Annotated[CommaList, AfterValidator(_check_alert_urls)]
McpTransports = Annotated[CommaList, AfterValidator(_check_transports)]
McpToolsets = Annotated[CommaList, AfterValidator(_check_toolsets)]
TrustedProxies = Annotated[InstanceOf[Networks], NoDecode, BeforeValidator(_read_networks)]
AuditKeyText = Annotated[str, AfterValidator(_check_secret)]
MetricsToken = AuditKeyText
AuditKeyTexts = Annotated[CommaList, AfterValidator(lambda values: tuple(map(_check_secret, values)))]
AuditAnchors = Annotated[CommaList, AfterValidator(_check_anchors)]
Purpose = Annotated[str, AfterValidator(purpose_of)]
IdentityProviders = Annotated[
    tuple[IdentityProvider, ...], NoDecode, BeforeValidator(read_providers), AfterValidator(check_providers)
]
Folder = Annotated[Path, AfterValidator(lambda value: value.expanduser().absolute())]
TimeZone = Annotated[str, AfterValidator(_check_time_zone)]
EncryptionKey = Annotated[str, AfterValidator(_read_by(parse_keys))]
_LONG_NAMES = {"openai-compatible": "openai", "openai_compatible": "openai"}
LlmProvider = Annotated[
    Literal["none", "openai", "bedrock"], BeforeValidator(lambda value: _LONG_NAMES.get(value, value))
]
DatabaseUrl = Annotated[
    str,
    AfterValidator(_has_scheme("postgresql", "postgres", expected="postgresql://user:password@host:port/name")),
    AfterValidator(_read_by(hosts_of)),
]
ReplicaUrls = Annotated[tuple[DatabaseUrl, ...], NoDecode, BeforeValidator(_split_commas)]
RedisUrl = Annotated[str, AfterValidator(_has_scheme("redis", "rediss", expected="redis://host:port/0 or rediss://…"))]
BoltUrl = Annotated[
    str,
    AfterValidator(
        _has_scheme(
            *("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"),
            expected="bolt://host:7687, neo4j://… or one of these with +s",
        )
    ),
]


BASE_DIR = Path(__file__).resolve().parent.parent

# What Django's own check of a deployment asks of the key (security.W009).
SECRET_KEY_CHARS = 50
SECRET_KEY_DISTINCT = 5
SECRET_KEY_OF_DRAFTS = "django-insecure-"  # noqa: S105 (a mark, no secret)

SUPERSEDED = {
    "PROCESSED_DIR": "documents are kept by the hub itself, under HUB_DATA_DIR or in S3_BUCKET",
    "MINIO_URL": "use S3_ENDPOINT_URL and S3_BUCKET",
    "FORWARDED_ALLOW_IPS": "name the proxies in HUB_TRUSTED_PROXIES",
    "HUB_TWO_PERSON_APPROVAL": "HUB_SECOND_PERSON holds for check masters as well, and is on by default",
    "ONTOLOGY_PATH": "ontologies are kept in the database and curated in the admin",
}


class ConfigurationError(Exception):
    """The configuration can't be used; ``problems`` has one line for each bad or missing setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("The configuration can't be used:\n" + "\n".join(f"  - {line}" for line in problems))
        self.problems = problems


def _written(source: PydanticBaseSettingsSource) -> dict[str, str]:
    """What is set in the environment or a file, by lower-case names; empty values count as absent."""
    found = source.env_vars.items() if isinstance(source, EnvSettingsSource) else ()
    return {name.lower(): value for name, value in found if value}


class Configuration(BaseSettings):
    """Settings by their environment names. Empty values count as absent."""

    model_config = SettingsConfigDict(env_file=None, env_ignore_empty=True, extra="ignore", case_sensitive=False)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read NAME_FILE beside NAME, from the environment before the file."""
        given = {**_written(dotenv_settings), **_written(env_settings)}
        return init_settings, env_settings, dotenv_settings, SecretFiles(settings_cls, given)

    # the doors: who is let in, how many, how fast
    hub_trusted_proxies: TrustedProxies = Field(
        Networks(()),
        description="addresses and networks of the proxies in front, comma separated: their X-Forwarded-For and "
        "X-Forwarded-Proto are believed, nobody else's",
    )
    hub_max_connections: int = Field(
        1000, ge=10, le=100_000, description="connections that a web process holds at one time; others get 503"
    )
    hub_max_connections_per_address: int = Field(
        400, ge=1, le=100_000, description="the same from one address that is not in HUB_TRUSTED_PROXIES"
    )
    hub_body_timeout_s: float = Field(
        30,
        ge=1,
        le=600,
        description="seconds in which the head of a request must arrive; of a body 500 bytes a second, counted over "
        "as many seconds",
    )
    hub_metrics_token: MetricsToken = Field(
        "", description="the token that /metrics asks for, 32 characters or more; without it only this machine may ask"
    )
    hub_mcp_max_sessions: int = Field(
        1000, ge=1, le=100_000, description="open MCP sessions of a web process (clients of the handshake eras)"
    )
    hub_mcp_max_sessions_per_user: int = Field(100, ge=1, le=100_000, description="the same of one user")
    hub_mcp_session_idle_s: float = Field(
        1800, ge=10, le=86_400, description="seconds after which an MCP session without a request or stream ends"
    )

    hub_env_file: Path | None = Field(
        None, description="read in the place of .env beside manage.py; from the environment alone"
    )
    hub_env: Literal["local", "production"] = Field(
        "local", description="production refuses a generated SECRET_KEY and wide-open hosts"
    )
    hub_data_dir: Folder = Field(
        BASE_DIR / "var", description="where embedded servers, blobs and caches live; readable by its owner only"
    )
    hub_temp_dir: Folder | None = Field(
        None,
        description="where temporary files are; empty = a file system in memory if files are encrypted and /dev/shm "
        "has room for four of the largest uploads, else tmp in HUB_DATA_DIR",
    )
    hub_host: str = Field("127.0.0.1", description="the address that the web server listens on")
    hub_port: int = Field(8000, ge=1, le=65535, description="the port that the web server listens on")
    hub_public_url: str = Field(
        "",
        description="the URL that clients use, when it is not http://HUB_HOST:HUB_PORT",
        pattern=r"^(https?://\S+)?$",
    )
    hub_ready_file: Path | None = Field(None, description="written as JSON when /readyz answers 200")
    hub_token: str = Field("", description="the access token of the stdio MCP servers")
    database_url: DatabaseUrl = Field(
        "",
        description="postgresql://user:password@host:port/name, or host,host for a primary and standbys that may take "
        "its place; empty = embedded PostgreSQL",
    )
    database_replica_urls: ReplicaUrls = Field(
        (), description="comma-separated URLs of hot standbys, for searches and reads that may lag (docs/replicas.md)"
    )
    hub_replica_max_lag_s: float = Field(
        10, ge=1, le=3600, description="a replica that is more seconds behind is left out until it has caught up"
    )
    postgres_host: str = Field("", description="accepted from the plain RAG server, when DATABASE_URL is empty")
    postgres_port: int = Field(5432, ge=1, le=65535, description="with POSTGRES_HOST")
    postgres_user: str = Field("postgres", description="with POSTGRES_HOST")
    postgres_password: str = Field("", description="with POSTGRES_HOST")
    postgres_db: str = Field("hub", description="with POSTGRES_HOST")
    source_dir: Folder = Field(Path("data/source"), description="the default folder of `manage.py index`")
    redis_url: RedisUrl = Field("", description="redis://host:port/0; empty = embedded Valkey")
    secret_key: str = Field(
        "",
        description="signs sessions and cursors; generated in HUB_DATA_DIR when absent; in production 50 random "
        "characters or more",
    )
    allowed_hosts: CommaList = Field(
        ("localhost", "127.0.0.1", "[::1]"), description="host names that the hub answers to, comma separated"
    )
    time_zone: TimeZone = Field("Asia/Tokyo", description="the time zone of pages and schedules")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="how much is logged")
    hub_masked_fields: CommaList = Field(
        (),
        description="names of fields whose values are masked in logs and before calls of a model outside: what stands "
        "after the name and a colon, or in the next cell",
    )
    log_format: Literal["text", "json"] = Field("text", description="json: one object per line")
    embedding_backend: Literal["bundled", "bundled-fp32", "sentence-transformers", "openai", "bedrock"] = Field(
        "bundled", description="what turns text into vectors; bundled works offline"
    )
    embedding_model: str = Field("", description="the model of the backend; empty = the backend's default")
    embedding_base_url: str = Field("", description="with EMBEDDING_BACKEND=openai")
    embedding_api_key: str = Field("", description="with EMBEDDING_BACKEND=openai")
    reranker_model: str = Field("", description="folder of a cross-encoder (sentence-transformers); empty = none")
    llm_provider: LlmProvider = Field(
        "none", description="who answers what rules can't: none, openai (any OpenAI-compatible endpoint), bedrock"
    )
    llm_base_url: str = Field(
        "",
        description="with openai the URL before /chat/completions; with bedrock a VPC endpoint, or empty",
        pattern=r"^(https?://\S+)?$",
    )
    llm_api_key: str = Field("", description="the endpoint's key")
    llm_model: str = Field("", description="the strong model, which judges and answers")
    llm_light_model: str = Field("", description="the light model, which screens; empty = the strong one")
    llm_structured_output: Literal["json_schema", "json_object", "grammar"] = Field(
        "json_schema", description="how a structured answer is asked for; grammar for llama.cpp and its kin"
    )
    llm_timeout_s: float = Field(120, ge=1, le=3600, description="seconds a request may take, retries included")
    llm_max_output_tokens: int = Field(8000, ge=16, le=100_000, description="the longest answer in tokens")
    llm_context_tokens: int = Field(
        8000, ge=200, le=1_000_000, description="tokens of a document that one request of a review may hold"
    )
    llm_reading_tokens: int = Field(
        80_000,
        ge=200,
        le=1_000_000,
        description="tokens of a document that one request of the reading and of the second opinion may hold; the "
        "model's window has to hold some 20,000 more",
    )
    llm_votes: int = Field(
        1,
        ge=1,
        le=9,
        description="answers that a check is judged by; more than one shows where they disagree",
    )
    llm_second_opinion: bool = Field(
        True, description="reviews put the rules' judgements before the model, unless one asks for something else"
    )
    llm_sweep: bool = Field(
        True, description="reviews have the model read the whole document, unless one asks for something else"
    )
    llm_max_concurrency: int = Field(
        4, ge=1, le=64, description="requests at the same time, of all processes of the hub together"
    )
    llm_price_in: Decimal | None = Field(None, ge=0, description="US$ per million input tokens of LLM_MODEL")
    llm_price_out: Decimal | None = Field(None, ge=0, description="US$ per million output tokens of LLM_MODEL")
    llm_light_price_in: Decimal | None = Field(None, ge=0, description="the same of LLM_LIGHT_MODEL")
    llm_light_price_out: Decimal | None = Field(None, ge=0, description="the same of LLM_LIGHT_MODEL")
    llm_masking: Literal["auto", "always", "never"] = Field(
        "auto", description="mask personal data in prompts; auto: unless the model is in the own network"
    )
    llm_max_classification: Literal["c1", "c2", "c3"] = Field(
        "c2", description="the highest classification that is sent to a model outside of the own network"
    )
    llm_unconfirmed_classification: Literal["c1", "c2", "c3"] = Field(
        "c1",
        description="the same as long as nobody has confirmed that the provider does not train on what it is sent",
    )
    hub_llm_token_budget: int = Field(
        800_000, ge=1, description="tokens that one review, or one answer, may spend on language models"
    )
    hub_llm_cost_budget: Decimal | None = Field(
        None, ge=0, description="US$ that one review, or one answer, may spend, where prices are set; empty = no limit"
    )
    hub_describe_figures: bool = Field(
        False, description="have pictures of documents described by LLM_MODEL, which must be one that sees"
    )
    hub_evaluation_gate: Literal["off", "warn", "refuse"] = Field(
        "warn", description="publishing what does worse on the datasets that guard it: not measured, told, refused"
    )
    s3_endpoint_url: str = Field("", description="an S3-compatible endpoint such as MinIO; empty = AWS")
    s3_bucket: str = Field("", description="keep documents in this bucket; empty = local disk")
    aws_region: str = Field("ap-northeast-1", description="the AWS region")
    aws_profile: str = Field("", description="the AWS profile")
    bedrock_kb_id: str = Field("", description="the Amazon Bedrock knowledge base")
    bedrock_model_arn: str = Field("", description="the model for generated answers")
    mcp_transports: McpTransports = Field(("stdio", "http"), description="MCP transports that are switched on")
    hub_mcp_toolsets: McpToolsets = Field(
        ("default",),
        description="tools that the hub MCP server lists: default, review, retrieval, knowledge, operation, all",
    )
    hub_mcp_output_chars: int = Field(
        20_000,
        ge=4_000,
        le=25_000,
        description="the most characters in an MCP result, its text or its structured content, and in a resource",
    )
    hub_mcp_max_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="the largest MCP request over HTTP")
    hub_mcp_conformance: bool = Field(False, description="serve the conformance fixture to this machine")
    encryption_key: EncryptionKey = Field(
        "",
        description="encrypt stored files: master keys of 32 bytes in base64 or hex, comma separated; the first "
        "encrypts, the others only open what they encrypted before",
    )
    encryption_key_file: Path | None = Field(
        None, description="a file with such keys, a line each; they come after those of ENCRYPTION_KEY"
    )
    encryption_kms_key: str = Field(
        "", description="id, ARN or alias of an AWS KMS key that encrypts in place of these"
    )
    encryption_kms_endpoint_url: str = Field(
        "", description="with ENCRYPTION_KMS_KEY: a VPC endpoint of KMS; empty = AWS", pattern=r"^(https?://\S+)?$"
    )
    retention_days: int | None = Field(
        None, ge=1, description="days after which documents are deleted, in collections without a period of their own"
    )
    hub_source_roots: SourceRoots = Field(
        (),
        description="folders and s3://bucket/prefix below which sources may be watched, comma separated; "
        "HUB_DATA_DIR/sources always may",
    )
    alert_urls: AlertUrls = Field((), description="where alerts go: Apprise URLs, comma separated")
    neo4j_url: BoltUrl = Field("", description="a bolt URL: Cypher queries of callers who see everything go there")
    neo4j_user: str = Field("", description="with NEO4J_URL")
    neo4j_password: str = Field("", description="with NEO4J_URL")
    otel_exporter_otlp_endpoint: str = Field(
        "",
        description="the base URL of an OpenTelemetry collector (OTLP over HTTP, such as http://host:4318), which "
        "traces go to; needs requirements/otel.txt; empty = none",
        pattern=r"^(https?://\S+)?$",
    )
    otel_exporter_otlp_headers: OtlpHeaders = Field(
        {}, description="headers for the collector, such as authorization=Bearer%20…, comma separated"
    )
    otel_service_name: str = Field("hub", description="what traces call this process", pattern=r"^[!-~]{1,100}$")
    hub_trace_share: float = Field(1, ge=0, le=1, description="the share of the calls that are traced, from 0 to 1")
    search_index: Literal["embedded", "qdrant"] = Field(
        "embedded",
        description="what holds vectors and terms for searches: PostgreSQL alone, or Qdrant beside it (experimental, "
        "docs/scale.md)",
    )
    qdrant_url: str = Field(
        "", description="with SEARCH_INDEX=qdrant: the URL of its REST interface", pattern=r"^(https?://\S+)?$"
    )
    qdrant_api_key: str = Field("", description="with QDRANT_URL")
    qdrant_timeout_s: float = Field(
        5, ge=0.2, le=120, description="seconds that Qdrant may take for a question; a write may take six times as long"
    )
    hub_backup_dir: Folder | None = Field(
        None, description="where a worker makes a backup every day (docs/operations.md); empty = no schedule"
    )
    hub_backup_at: str = Field(
        "01:30",
        description="the time of day from which on it does, HH:MM in TIME_ZONE",
        pattern=r"^([01]\d|2[0-3]):[0-5]\d$",
    )
    hub_backup_encrypt_to: str = Field(
        "", description="public keys of age (age1…), comma separated, or a passphrase file; empty = in plain"
    )
    hub_backup_verify: bool = Field(
        False, description="restore each backup of HUB_BACKUP_DIR into a hub of its own; one that differs is not good"
    )
    hub_backup_identity: Path | None = Field(
        None, description="with HUB_BACKUP_VERIFY and age1… keys: a file with the identity that opens the backups"
    )
    hub_backup_keep: int = Field(14, ge=1, le=3650, description="backups of HUB_BACKUP_DIR that stay; older ones go")
    hub_backup_late_hours: int = Field(
        26, ge=1, le=8760, description="hours since the last good backup after which an alert says that it is late"
    )
    hub_workers: int = Field(2, ge=1, le=64, description="Celery worker processes started by `manage.py up`")
    hub_max_upload_bytes: int = Field(200 * 1024 * 1024, ge=1024, description="the largest file that is taken in")
    hub_max_expanded_bytes: int = Field(1024**3, ge=1024, description="the largest expanded size of a zip-based file")
    hub_max_pages: int = Field(5000, ge=1, description="the most pages of a document")
    hub_max_cells: int = Field(1_000_000, ge=1, description="the most filled cells of a spreadsheet")
    hub_parse_timeout_s: int = Field(
        120, ge=1, description="processor seconds, or five times as many on the clock, after which parsing is given up"
    )
    hub_parse_memory_bytes: int = Field(2 * 1024**3, ge=256 * 1024**2, description="the memory a parser may take")
    hub_ocr_engine: Literal["auto", "ppocr", "tesseract", "none"] = Field(
        "auto",
        description="what reads scanned pages; auto: PP-OCR where requirements/ocr.txt is installed, else tesseract",
    )
    hub_ocr_figures: bool = Field(True, description="read the words in pictures of documents with OCR, too")
    hub_ocr_page_s: int = Field(
        60, ge=5, le=1800, description="processor seconds after which OCR of a page is given up"
    )
    hub_graph_memory_bytes: int = Field(
        4 * 1024**3, ge=512 * 1024**2, description="the memory that the process for Cypher queries may take"
    )
    hub_graph_copy_bytes: int = Field(
        256 * 1024**2, ge=1024**2, description="the most bytes of graphs that are held for Cypher queries"
    )
    hub_postings_cache_bytes: int = Field(
        256 * 1024**2, ge=1024**2, description="the most bytes of postings that a process keeps decoded for searches"
    )
    hub_index_memory_bytes: int = Field(
        3 * 1024**3,
        ge=64 * 1024**2,
        description="the most memory that PostgreSQL may take to build a vector index; a million vectors of 384 "
        "dimensions take 2 GiB",
    )
    hub_postgres_buffers_bytes: int | None = Field(
        None,
        ge=16 * 1024**2,
        le=64 * 1024**3,
        description="memory of the embedded PostgreSQL for tables and indexes (shared_buffers); empty = a quarter of "
        "the machine's, at most 4 GiB",
    )
    hub_warm_up_bytes: int = Field(
        8 * 1024**3,
        ge=0,
        description="the most bytes of the search index that are read into memory after a start, and at most half of "
        "the machine's memory; 0 = none",
    )
    hub_rate_limit_per_minute: int = Field(600, ge=1, description="REST and MCP requests per token and minute")
    hub_audit_key: AuditKeyText = Field(
        "", description="the key that proves the audit trail, 32 random characters or more; empty = from SECRET_KEY"
    )
    hub_audit_old_keys: AuditKeyTexts = Field(
        (), description="keys that lines and seals of before were made with, comma separated, also former SECRET_KEYs"
    )
    hub_audit_queries: Literal["hash", "text", "none"] = Field(
        "hash", description="what the audit trail keeps of a question: a keyed hash, its text, or none"
    )
    hub_audit_wait_for_disk: bool = Field(
        True, description="a read is answered once its audit line is on disk; off: a crash of PostgreSQL may lose 0.6 s"
    )
    hub_audit_anchors: AuditAnchors = Field(
        (),
        description="where the newest seal of the audit trail is noted: files (/path), s3://bucket/prefix, "
        "syslog:/dev/log or syslog://host:514, comma separated; empty = a file in HUB_DATA_DIR beside an embedded "
        "database; none",
    )
    hub_audit_anchor_lock_days: int | None = Field(
        None, ge=1, le=36500, description="days for which notes in S3 can't be removed (object lock, compliance mode)"
    )
    hub_audit_read_days: int | None = Field(
        None, ge=30, description="days after which lines about reading are removed; empty = never"
    )
    hub_audit_change_days: int | None = Field(
        None, ge=30, description="the same for lines about changes; who uploaded what is kept"
    )
    hub_audit_access_days: int | None = Field(
        None, ge=30, description="the same for lines about sign-ins, tokens, rights and settings"
    )
    hub_purpose: Purpose = Field(
        "", description="what commands and stdio MCP servers are used for, in their lines of the audit trail"
    )
    hub_question_days: int = Field(
        180, ge=0, le=3650, description="days after which questions of the home page are deleted; 0 = none are kept"
    )
    hub_token_max_days: int = Field(
        365, ge=1, le=3650, description="the longest life of an access token in days, and the one it gets by default"
    )
    hub_session_hours: int = Field(
        12, ge=1, le=336, description="hours after signing in when a session of the admin ends, used or not"
    )
    hub_sign_in_failures: int = Field(
        5, ge=1, le=100, description="wrong passwords for one user name from one address before that address waits"
    )
    hub_sign_in_failures_anywhere: int = Field(
        30,
        ge=1,
        le=1000,
        description="the same from all addresses together; then those wait from which the person has not signed in "
        "within 30 days",
    )
    hub_sign_in_wait_minutes: int = Field(
        15, ge=1, le=1440, description="minutes that it takes after too many wrong passwords to be let in again"
    )
    hub_second_factor: Literal["optional", "superusers", "everybody"] = Field(
        "optional", description="local accounts that have to set up an authenticator before they go on"
    )
    hub_confirm_minutes: int = Field(
        10, ge=1, le=120, description="minutes after which what can't be undone asks again who is there"
    )
    hub_oidc_providers: IdentityProviders = Field(
        (), description="identity providers that people sign in with: a JSON list, see sign-in.md; empty = none"
    )
    hub_oidc_check_s: int = Field(
        30, ge=5, le=50, description="seconds after which a provider is asked again whether a person may still come in"
    )
    hub_oidc_away_minutes: int = Field(
        60, ge=1, le=1440, description="minutes that a provider's last word counts while it does not answer"
    )
    hub_oidc_timeout_s: float = Field(5, ge=0.5, le=30, description="seconds that a provider may take to answer")
    hub_request_threads: int = Field(
        16, ge=1, le=64, description="requests that a web process works on at one time; others wait in line"
    )
    hub_request_wait_s: float = Field(
        30, ge=0, le=600, description="seconds that a request waits for one of them before it is refused with 503"
    )
    hub_output_budget_chars: int = Field(200_000, ge=1000, description="the most characters in one search answer")
    hub_lease_s: int = Field(
        30, ge=10, le=600, description="seconds after which work whose worker went silent is taken up by another"
    )
    hub_max_attempts: int = Field(5, ge=1, description="tries of an ingestion stage before the document is failed")
    hub_two_person_sign_off: bool = Field(False, description="a review is signed off when two people have signed it")
    hub_second_person: bool = Field(
        True, description="what everybody shares is published by somebody else than who wrote it; off for one person"
    )

    @model_validator(mode="after")
    def _check_together(self) -> Configuration:
        problems = []
        if self.hub_env == "production":
            problems += self._secret_key_problems()
            if "*" in self.allowed_hosts:
                problems.append("ALLOWED_HOSTS: * is not allowed in production, name the hosts")
            if self.hub_mcp_conformance:
                problems.append("HUB_MCP_CONFORMANCE: not allowed in production, it serves without a token")
        if self.embedding_backend == "openai" and not (self.embedding_base_url and self.embedding_model):
            problems.append("EMBEDDING_BASE_URL and EMBEDDING_MODEL: needed with EMBEDDING_BACKEND=openai")
        problems += self._llm_problems()
        problems += self._key_file_problems()
        if self.search_index == "qdrant" and not self.qdrant_url:
            problems.append("QDRANT_URL: needed with SEARCH_INDEX=qdrant, such as http://host:6333")
        if self.otel_exporter_otlp_endpoint and not can_trace():
            problems.append("OTEL_EXPORTER_OTLP_ENDPOINT: needs pip install -r requirements/otel.txt")
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _key_file_problems(self) -> list[str]:
        if self.encryption_key_file is None:
            return []
        try:
            keys = parse_keys(self.encryption_key_file.read_text(encoding="utf-8"))
        except OSError as error:
            return [f"ENCRYPTION_KEY_FILE: {self.encryption_key_file} can't be read: {error.strerror}"]
        except ValueError as error:
            return [f"ENCRYPTION_KEY_FILE: {error}"]
        return [] if keys else [f"ENCRYPTION_KEY_FILE: {self.encryption_key_file} has no key"]

    def _secret_key_problems(self) -> list[str]:
        if not self.secret_key:
            return ["SECRET_KEY: needed in production (HUB_ENV=production), 50 random characters or more"]
        problems = []
        if len(self.secret_key) < SECRET_KEY_CHARS or len(set(self.secret_key)) < SECRET_KEY_DISTINCT:
            problems.append(
                f"SECRET_KEY: too easy to guess for production, take {SECRET_KEY_CHARS} random characters or more"
            )
        if self.secret_key.startswith(SECRET_KEY_OF_DRAFTS):
            problems.append(f"SECRET_KEY: begins with {SECRET_KEY_OF_DRAFTS}, which marks keys that are not secret")
        return problems

    def _llm_problems(self) -> list[str]:
        if self.llm_provider == "none":
            return []
        problems = [] if self.llm_model else [f"LLM_MODEL: needed with LLM_PROVIDER={self.llm_provider}"]
        if self.llm_provider == "openai" and not self.llm_base_url:
            problems.append("LLM_BASE_URL: needed with LLM_PROVIDER=openai, such as https://host/v1")
        for name, price_in, price_out in (
            ("LLM_PRICE", self.llm_price_in, self.llm_price_out),
            ("LLM_LIGHT_PRICE", self.llm_light_price_in, self.llm_light_price_out),
        ):
            if (price_in is None) != (price_out is None):
                problems.append(f"{name}_IN and {name}_OUT: give both or neither")
        if self.hub_llm_cost_budget is not None and self.llm_price_in is None:
            problems.append("HUB_LLM_COST_BUDGET: needs LLM_PRICE_IN and LLM_PRICE_OUT")
        return problems

    @property
    def effective_database_url(self) -> str:
        """DATABASE_URL, or the one that POSTGRES_* make, or "" for the embedded server."""
        if self.database_url or not self.postgres_host:
            return self.database_url
        password = f":{quote(self.postgres_password, safe='')}" if self.postgres_password else ""
        user = quote(self.postgres_user, safe="")
        return f"postgresql://{user}{password}@{self.postgres_host}:{self.postgres_port}/{self.postgres_db}"

    @property
    def public_url(self) -> str:
        return (self.hub_public_url or f"http://{self.hub_host}:{self.hub_port}").rstrip("/")

    def remarks(self) -> list[str]:
        """Lines to say at start: superseded settings with what replaces them."""
        return [f"{name} is superseded: {what}" for name, what in SUPERSEDED.items() if os.environ.get(name)]


def load_configuration(env_file: Path | None = BASE_DIR / ".env") -> Configuration:
    """Read and check everything at once; HUB_ENV_FILE takes ``env_file``'s place.

    :raises ConfigurationError: names every problem.
    """
    env_file = Path(os.environ["HUB_ENV_FILE"]) if os.environ.get("HUB_ENV_FILE") else env_file
    try:
        return Configuration(_env_file=env_file)
    except ValidationError as error:
        raise ConfigurationError(_problems(error)) from None
    except SecretFilesUnread as error:
        raise ConfigurationError(error.problems) from None


def _problems(error: ValidationError) -> list[str]:
    lines = []
    for item in error.errors():
        message = item["msg"].removeprefix("Value error, ")
        if not item["loc"]:
            lines.extend(message.splitlines())
            continue
        name = str(item["loc"][0]).upper()
        secret = any(word in name for word in ("KEY", "PASSWORD", "TOKEN", "URL"))
        given = "" if secret else f" (given: {item['input']!r})"
        if name == "HUB_OIDC_PROVIDERS":  # its values may be secrets; where the problem is, is none
            place = ".".join(str(part) for part in item["loc"][1:])
            message, given = f"{place}: {message}" if place else message, ""
        lines.append(f"{name}: {message}{given}")
    return lines
