#!/usr/bin/env bash
# Start a hot standby of PRIMARY_HOST with the arguments given; the first time, copy the primary before.
# A copy that was broken off begins anew. Promoted, it goes on as what it is then.
set -euo pipefail
export PGHOST="$PRIMARY_HOST" PGPORT="${PRIMARY_PORT:-5432}" PGUSER=replication PGPASSWORD="$REPLICATION_PASSWORD"
slot="${REPLICA_SLOT:-replica_1}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  copy="$PGDATA.copying"
  rm -rf "$copy"
  until psql --no-psqlrc --quiet --dbname=postgres --command="SELECT pg_create_physical_replication_slot('$slot', true)
      WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = '$slot')" > /dev/null; do
    echo "the primary $PGHOST does not let us in yet"
    sleep 2
  done
  pg_basebackup --pgdata="$copy" --write-recovery-conf --slot="$slot" --wal-method=stream --checkpoint=fast
  chmod 700 "$copy"
  mv -T "$copy" "$PGDATA"
fi
unset PGHOST PGPORT PGUSER PGPASSWORD
exec postgres -D "$PGDATA" -c hot_standby_feedback=on "$@"
