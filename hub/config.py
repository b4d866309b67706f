"""The configuration: every setting, read from the environment and ``.env`` and checked together.

``docs/settings.md`` and ``.env.example`` list what stands here; a test holds them to it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import zoneinfo
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent

SUPERSEDED = {
    "PROCESSED_DIR": "documents are kept by the hub itself, under HUB_DATA_DIR or in S3_BUCKET",
    "QDRANT_URL": "vectors are kept in PostgreSQL, see DATABASE_URL",
    "MINIO_URL": "use S3_ENDPOINT_URL and S3_BUCKET",
    "ONTOLOGY_PATH": "ontologies are kept in the database and curated in the admin",
}
CommaList = Annotated[tuple[str, ...], NoDecode]


class ConfigurationError(Exception):
    """The configuration can't be used; ``problems`` has one line for each bad or missing setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("The configuration can't be used:\n" + "\n".join(f"  - {line}" for line in problems))
        self.problems = problems


class Configuration(BaseSettings):
    """Settings by their environment names. Empty values count as absent."""

    model_config = SettingsConfigDict(env_file=None, env_ignore_empty=True, extra="ignore", case_sensitive=False)

    hub_env: Literal["local", "production"] = Field(
        "local", description="production refuses a generated SECRET_KEY and wide-open hosts"
    )
    hub_data_dir: Path = Field(
        BASE_DIR / "var", description="where embedded servers, blobs and caches live; readable by its owner only"
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
    database_url: str = Field("", description="postgresql://user:password@host:port/name; empty = embedded PostgreSQL")
    postgres_host: str = Field("", description="accepted from the plain RAG server, when DATABASE_URL is empty")
    postgres_port: int = Field(5432, ge=1, le=65535, description="with POSTGRES_HOST")
    postgres_user: str = Field("postgres", description="with POSTGRES_HOST")
    postgres_password: str = Field("", description="with POSTGRES_HOST")
    postgres_db: str = Field("hub", description="with POSTGRES_HOST")
    source_dir: Path = Field(Path("data/source"), description="the default folder of `manage.py index`")
    redis_url: str = Field("", description="redis://host:port/0; empty = embedded Valkey")
    secret_key: str = Field("", description="signs sessions and cursors; generated in HUB_DATA_DIR when absent")
    allowed_hosts: CommaList = Field(
        ("localhost", "127.0.0.1", "[::1]"), description="host names that the hub answers to, comma separated"
    )
    time_zone: str = Field("Asia/Tokyo", description="the time zone of pages and schedules")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="how much is logged")
    log_format: Literal["text", "json"] = Field("text", description="json: one object per line")
    embedding_backend: Literal["bundled", "bundled-fp32", "sentence-transformers", "openai", "bedrock"] = Field(
        "bundled", description="what turns text into vectors; bundled works offline"
    )
    embedding_model: str = Field("", description="the model of the backend; empty = the backend's default")
    embedding_base_url: str = Field("", description="with EMBEDDING_BACKEND=openai")
    embedding_api_key: str = Field("", description="with EMBEDDING_BACKEND=openai")
    reranker_model: str = Field("", description="folder of a cross-encoder (sentence-transformers); empty = none")
    llm_provider: Literal["none", "openai", "bedrock"] = Field(
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
    llm_max_output_tokens: int = Field(2048, ge=16, le=100_000, description="the longest answer in tokens")
    llm_context_tokens: int = Field(
        8000, ge=200, le=1_000_000, description="tokens of a document that one request of a review may hold"
    )
    llm_votes: int = Field(
        1,
        ge=1,
        le=9,
        description="answers that a check is judged by; more than one shows where they disagree",
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
    hub_llm_token_budget: int = Field(500_000, ge=1, description="tokens that one review may spend on language models")
    hub_llm_cost_budget: Decimal | None = Field(
        None, ge=0, description="US$ that one review may spend, where prices are set; empty = no limit"
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
    mcp_transports: CommaList = Field(("stdio", "http"), description="MCP transports that are switched on")
    hub_mcp_max_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="the largest MCP request over HTTP")
    hub_mcp_conformance: bool = Field(False, description="serve the conformance fixture to this machine")
    encryption_key: str = Field("", description="encrypt stored documents")
    retention_days: int | None = Field(
        None, ge=1, description="days after which documents are deleted, in collections without a period of their own"
    )
    alert_urls: CommaList = Field((), description="where alerts go: Apprise URLs, comma separated")
    neo4j_url: str = Field("", description="a bolt URL: Cypher queries of callers who see everything go there")
    neo4j_user: str = Field("", description="with NEO4J_URL")
    neo4j_password: str = Field("", description="with NEO4J_URL")
    hub_workers: int = Field(2, ge=1, le=64, description="Celery worker processes started by `manage.py up`")
    hub_max_upload_bytes: int = Field(200 * 1024 * 1024, ge=1024, description="the largest file that is taken in")
    hub_max_expanded_bytes: int = Field(1024**3, ge=1024, description="the largest expanded size of a zip-based file")
    hub_max_pages: int = Field(5000, ge=1, description="the most pages of a document")
    hub_max_cells: int = Field(1_000_000, ge=1, description="the most filled cells of a spreadsheet")
    hub_parse_timeout_s: int = Field(
        120, ge=1, description="processor seconds, or five times as many on the clock, after which parsing is given up"
    )
    hub_parse_memory_bytes: int = Field(2 * 1024**3, ge=256 * 1024**2, description="the memory a parser may take")
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
    hub_rate_limit_per_minute: int = Field(600, ge=1, description="REST requests per token and minute")
    hub_output_budget_chars: int = Field(200_000, ge=1000, description="the most characters in one search answer")
    hub_lease_s: int = Field(
        30, ge=10, le=600, description="seconds after which work whose worker went silent is taken up by another"
    )
    hub_max_attempts: int = Field(5, ge=1, description="tries of an ingestion stage before the document is failed")
    hub_two_person_sign_off: bool = Field(False, description="a review is signed off when two people have signed it")
    hub_two_person_approval: bool = Field(
        False, description="a version of a check master is approved by somebody else than its author"
    )

    @field_validator("allowed_hosts", "mcp_transports", "alert_urls", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("llm_provider", mode="before")
    @classmethod
    def _accept_long_name(cls, value: object) -> object:
        return "openai" if value in {"openai-compatible", "openai_compatible"} else value

    @field_validator("hub_data_dir", "source_dir")
    @classmethod
    def _make_absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("mcp_transports")
    @classmethod
    def _check_transports(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := set(value) - {"stdio", "http"}:
            raise ValueError(f"unknown transports {sorted(unknown)}, expected stdio and http")
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in {"postgresql", "postgres"}:
            raise ValueError("expected postgresql://user:password@host:port/name")
        return value

    @field_validator("neo4j_url")
    @classmethod
    def _check_neo4j_url(cls, value: str) -> str:
        known = {"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"}
        if value and urlsplit(value).scheme not in known:
            raise ValueError("expected bolt://host:7687, neo4j://… or one of these with +s")
        return value

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in {"redis", "rediss"}:
            raise ValueError("expected redis://host:port/0 or rediss://…")
        return value

    @field_validator("alert_urls")
    @classmethod
    def _check_alert_urls(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            return value
        from apprise import Apprise  # a second and a half, for those who want alerts only

        for number, url in enumerate(value, 1):
            if not Apprise.instantiate(url, suppress_exceptions=True):
                scheme = url.partition("://")[0] if "://" in url else ""  # the rest may hold a password
                what = f"scheme {scheme[:20]}" if scheme else "no scheme"
                raise ValueError(f"URL {number} ({what}) can't be used, expected Apprise URLs such as mailtos://…")
        return value

    @field_validator("time_zone")
    @classmethod
    def _check_time_zone(cls, value: str) -> str:
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError("expected an IANA name such as Asia/Tokyo") from error
        return value

    @field_validator("encryption_key")
    @classmethod
    def _refuse_encryption(cls, value: str) -> str:
        if value:
            raise ValueError("encryption at rest is not available in this release; remove the setting")
        return value

    @model_validator(mode="after")
    def _check_together(self) -> Configuration:
        problems = []
        if self.hub_env == "production":
            if not self.secret_key:
                problems.append("SECRET_KEY: needed in production (HUB_ENV=production), 50 random characters or more")
            if "*" in self.allowed_hosts:
                problems.append("ALLOWED_HOSTS: * is not allowed in production, name the hosts")
            if self.hub_mcp_conformance:
                problems.append("HUB_MCP_CONFORMANCE: not allowed in production, it serves without a token")
        if self.embedding_backend == "openai" and not (self.embedding_base_url and self.embedding_model):
            problems.append("EMBEDDING_BASE_URL and EMBEDDING_MODEL: needed with EMBEDDING_BACKEND=openai")
        problems += self._llm_problems()
        if problems:
            raise ValueError("\n".join(problems))
        return self

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
    """Read and check everything at once. Raises ConfigurationError that names every problem."""
    try:
        return Configuration(_env_file=env_file)
    except ValidationError as error:
        raise ConfigurationError(_problems(error)) from None


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
        lines.append(f"{name}: {message}{given}")
    return lines


def secret_key(config: Configuration) -> str:
    """SECRET_KEY, or a key generated once and kept in HUB_DATA_DIR (never in production)."""
    if config.secret_key:
        return config.secret_key
    path = make_data_dir(config.hub_data_dir) / "secret_key"
    if not path.exists():
        draft = path.with_name(f"secret_key.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def make_data_dir(path: Path) -> Path:
    """Create HUB_DATA_DIR for its owner only; a folder that lets others pass through keeps that one bit."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o066:
        path.chmod(0o700)
    return path
