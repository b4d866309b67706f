#!/usr/bin/env bash
# Let replicas follow this server: a role that may read the log, and its line in pg_hba.conf. Run by the image when it
# makes the database, and by hand for one that is there already; a second run changes nothing but the password.
set -euo pipefail
if [ -z "${REPLICATION_PASSWORD:-}" ]; then
  echo "REPLICATION_PASSWORD is not set: nobody may follow this server"
  exit 0
fi
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$REPLICATION_PASSWORD" \
  --username="${POSTGRES_USER:-postgres}" --dbname="${POSTGRES_DB:-postgres}" <<'SQL'
SELECT 'CREATE ROLE replication LOGIN REPLICATION' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'replication') \gexec
ALTER ROLE replication PASSWORD :'password';
SQL
line="host replication replication all scram-sha-256"
grep -qxF "$line" "$PGDATA/pg_hba.conf" || echo "$line" >> "$PGDATA/pg_hba.conf"
psql --no-psqlrc --username="${POSTGRES_USER:-postgres}" --dbname="${POSTGRES_DB:-postgres}" \
  --command="SELECT pg_reload_conf()" > /dev/null
