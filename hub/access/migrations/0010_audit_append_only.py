from django.db import migrations

TABLES = ('access_auditevent', 'access_auditseal', 'access_auditsealedlines')

FUNCTION = """
CREATE FUNCTION hub_refuse_to_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'lines and seals of the audit trail are only added: % of % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$
"""
CLOSE = """
CREATE TRIGGER hub_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION hub_refuse_to_change();
REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM CURRENT_USER
"""
OPEN = """
DROP TRIGGER hub_append_only ON {table};
GRANT UPDATE, DELETE, TRUNCATE ON {table} TO CURRENT_USER
"""


class Migration(migrations.Migration):
    """Refuse changes of the audit trail in the database itself, whichever server it is."""

    dependencies = [('access', '0009_audit_seals')]

    operations = [
        migrations.RunSQL(FUNCTION, 'DROP FUNCTION hub_refuse_to_change()'),
        *(migrations.RunSQL(CLOSE.format(table=table), OPEN.format(table=table)) for table in TABLES),
    ]
