# One image for web, worker and beat. Build: docker compose build
# docker-compose.yml gives the base image; this is the same one.
ARG BASE_IMAGE=python:3.11.14-slim@sha256:c8271b1f627d0068857dce5b53e14a9558603b527e46f1f901722f935b786a39
FROM ${BASE_IMAGE}
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 ORT_DISABLE_TELEMETRY=1
WORKDIR /srv/hub
COPY requirements/base.txt requirements/neo4j.txt requirements/ocr.txt requirements/otel.txt requirements/
RUN pip install --no-cache-dir -r requirements/base.txt -r requirements/neo4j.txt -r requirements/ocr.txt \
    -r requirements/otel.txt
COPY . .
# Nothing is written beside the code while it runs; without this every process and health check would compile it again.
RUN python -m compileall -q hub knowledge review mcp_bridge
RUN useradd --system --home /var/lib/hub --create-home hub
USER hub
ENV HUB_DATA_DIR=/var/lib/hub HUB_HOST=0.0.0.0
EXPOSE 8000
CMD ["python", "manage.py", "web", "--port", "8000"]
