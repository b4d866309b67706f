from django.db import migrations

# A row of lines refers to its seal. PostgreSQL looks for the seal as its table's owner, and locks its row, which takes
# UPDATE on any of its columns; 0010 took that from an owner that is no superuser. The trigger refuses every change.
LOOK_UP = 'GRANT UPDATE (number) ON access_auditseal TO CURRENT_USER'


class Migration(migrations.Migration):
    """Let the owner of the seals look up the seal that a new row of lines refers to."""

    dependencies = [('access', '0016_reasons_of_grants')]

    operations = [migrations.RunSQL(LOOK_UP, 'REVOKE UPDATE (number) ON access_auditseal FROM CURRENT_USER')]
