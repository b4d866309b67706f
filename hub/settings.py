"""Django's settings, composed from :mod:`hub.config`. Importing this starts nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import django_stubs_ext
from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.utils.translation import gettext_lazy as _
from kombu import Queue

import hub.core.log_masking
import hub.core.private_files  # noqa: F401 (from here on files are their owner's only)
from hub.config import BASE_DIR, load_configuration
from hub.core import temporary
from hub.core.context import in_one_line
from hub.core.database_urls import REPLICA, database_settings
from hub.core.embedded.postgres import postgres_settings
from hub.core.embedded.valkey import EmbeddedValkey
from hub.core.masking import set_masked_fields
from hub.data_dir import compiled_catalogue, make_data_dir, secret_key
from hub.site.unfold import UNFOLD  # noqa: F401 (read by the admin)
from hub.version import static_edition

django_stubs_ext.monkeypatch()

CONFIG = load_configuration()
set_masked_fields(CONFIG.hub_masked_fields)
HUB_DATA_DIR: Path = make_data_dir(CONFIG.hub_data_dir)

SECRET_KEY = secret_key(CONFIG)
DEBUG = False
ALLOWED_HOSTS = list(CONFIG.allowed_hosts)
CSRF_TRUSTED_ORIGINS = [CONFIG.public_url]
ROOT_URLCONF = "hub.site.urls"
ASGI_APPLICATION = "hub.site.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "hub.admin_site.apps.HubAdminConfig",
    "hub.access.apps.AccessConfig",  # its createsuperuser comes before Django's
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "ninja",
    "hub.apps.HubConfig",
    "hub.backups.apps.BackupsConfig",
    "hub.evaluation.apps.EvaluationConfig",
    "hub.llm.apps.LlmConfig",
    "knowledge.apps.KnowledgeConfig",
    "review.apps.ReviewConfig",
    "mcp_bridge.apps.McpBridgeConfig",
]

MIDDLEWARE = [
    "hub.rest.security_headers.SecurityHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "hub.rest.compression.CompressionMiddleware",
    "hub.rest.static_files.StaticFilesMiddleware",
    "hub.rest.middleware.CallContextMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "hub.rest.middleware.RestMiddleware",
    "hub.site.probes.ProbeMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "hub.access.provider_sessions.ProviderSessionMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # in every template without {% load %}
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.l10n",
                "django.templatetags.static",
            ],
        },
    }
]


EMBEDDED_DATABASE = not CONFIG.effective_database_url
EMBEDDED_BUFFERS_BYTES = CONFIG.hub_postgres_buffers_bytes
DATABASES = {
    "default": postgres_settings(HUB_DATA_DIR / "postgres")
    if EMBEDDED_DATABASE
    else database_settings(CONFIG.effective_database_url)
}
DATABASES |= {
    f"{REPLICA}{number}": database_settings(url, is_replica=True)
    for number, url in enumerate(CONFIG.database_replica_urls, 1)
}
DATABASE_ROUTERS = ["hub.core.routing.ReadRouter"]

# The queue, the cache and the event bus share one server: databases 0, 1 and (pub/sub has no database) 0.
EMBEDDED_QUEUE = not CONFIG.redis_url
if EMBEDDED_QUEUE:
    _valkey = EmbeddedValkey(HUB_DATA_DIR / "valkey")
    CELERY_BROKER_URL, REDIS_CLIENT_URL = _valkey.broker_url(0), _valkey.redis_url(0)
    _cache_url = _valkey.redis_url(1)
else:
    CELERY_BROKER_URL = REDIS_CLIENT_URL = _cache_url = CONFIG.redis_url
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": _cache_url,
        "KEY_PREFIX": "hub-json",
        "OPTIONS": {
            "socket_timeout": 2,
            "socket_connect_timeout": 2,
            "pool_class": "hub.core.valkey.SharedPool",
            "serializer": "hub.core.valkey.JsonValues",
        },
    }
}

CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "queue_order_strategy": "hub.core.queue_turns:Turns"}
# In the order in which workers take from them, but for the turns of "bulk".
CELERY_TASK_QUEUES = [Queue("celery"), Queue("bulk"), Queue("ocr")]
CELERY_TASK_ROUTES = {
    "knowledge.advance_bulk_version": {"queue": "bulk"},
    "knowledge.read_version": {"queue": "ocr"},
}
CELERY_BEAT_SCHEDULER = "hub.core.steady_schedule:SteadyScheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(HUB_DATA_DIR / "beat-schedule")
CELERY_TASK_TIME_LIMIT = 1800


LANGUAGE_CODE = "ja"
LANGUAGES = [("ja", _("Japanese")), ("en", _("English"))]
LOCALE_PATHS = [compiled_catalogue(BASE_DIR / "locale/ja/LC_MESSAGES/django.po", HUB_DATA_DIR / "locale")]
TIME_ZONE = CONFIG.time_zone
CELERY_TIMEZONE = CONFIG.time_zone
USE_I18N = True
FORMAT_MODULE_PATH = "hub.core.formats"
USE_TZ = True

# Not by names with hashes, which would need a step before each start: all addresses change with any of the files.
STATIC_EDITION = static_edition()
STATIC_URL = f"static/{STATIC_EDITION}/"
WHITENOISE_STATIC_PREFIX = "/static/"
STATIC_ROOT = make_data_dir(HUB_DATA_DIR / "static")
WHITENOISE_USE_FINDERS = True

LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "home"
CSRF_FAILURE_VIEW = "hub.home.errors.form_expired"
ERROR_PAGE = "hub.home.errors.error_page"  # for browsers whose request is refused, by a view or before any
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
if CONFIG.hub_oidc_providers:
    AUTHENTICATION_BACKENDS.append("hub.access.providers.sign_in.ProviderBackend")
# How django-axes asks hub.access.sign_in, which has the bounds, keeps the audit and says how long to wait.
AXES_HANDLER = "hub.access.sign_in.SignInGuard"
AXES_CLIENT_IP_CALLABLE = "hub.access.sign_in.client_address"
AXES_LOCKOUT_CALLABLE = "hub.access.sign_in.locked_response"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = CONFIG.hub_sign_in_failures
AXES_COOLOFF_TIME = timedelta(minutes=CONFIG.hub_sign_in_wait_minutes)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True  # the audit has it
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 15}},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "hub.access.passwords.PredictablePasswordValidator"},
]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CONFIG.public_url.startswith("https://")
SESSION_ENGINE = "hub.access.session_store"
SESSION_COOKIE_AGE = CONFIG.hub_session_hours * 3600
# Of pages; what is no page gets a policy that allows nothing. Alpine, which Unfold's menus and tabs are made with,
# compiles what is in their attributes, which is what 'unsafe-eval' is for; Unfold's colours are an inline style.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "hub.rest.uploads.PrivateUploadHandler",
]
IS_ENCRYPTED = bool(CONFIG.encryption_key or CONFIG.encryption_key_file or CONFIG.encryption_kms_key)
temporary.set_root(
    temporary.choose_root(
        CONFIG.hub_temp_dir, HUB_DATA_DIR, is_encrypted=IS_ENCRYPTED, most_bytes=CONFIG.hub_max_upload_bytes
    )
)
FILE_UPLOAD_PERMISSIONS = 0o600

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "hub.core.context.TextFormatter"},
        "json": {"()": "hub.core.context.JsonFormatter"},
    },
    "filters": {"in_one_line": {"()": lambda: in_one_line}},
    # stderr only: on a stdio MCP server stdout belongs to the protocol
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": CONFIG.log_format}},
    "root": {"handlers": ["stderr"], "level": CONFIG.log_level},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"filters": ["in_one_line"]},
        # every task and tick would be a line otherwise; failures still are
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "axes": {"level": "ERROR"},  # the audit has it
        "pdfminer": {"level": "ERROR"},
        "mcp": {"level": "WARNING"},
    },
}
