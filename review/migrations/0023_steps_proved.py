from django.db import migrations, models
from django.db.migrations.state import StateApps
import django.db.models.functions.datetime
import django.utils.timezone

PROOFS = {
    "admin-master-revision": {
        "measure-before": "measured",
        "draft": "drafted",
        "publish": "published",
        "measure-after": "measured_after",
        "review-again": "reviewed_after",
        "record": "trail_read_after",
    },
    "pjmo-self-review": {
        "upload": "text_ready",
        "look-at-text": "text_read",
        "start-review": "reviewed",
        "read-findings": "results_read",
        "decide": "findings_decided",
        "new-version": "new_version",
        "review-again": "reviewed_again",
        "compare": "changes_read",
        "hand-over": "report_taken",
    },
    "quality-sign-off": {
        "open-review": "results_read",
        "triage": "findings_decided",
        "decide-checks": "checks_decided",
        "send-table": "report_taken",
        "read-answers": "answers_read_in",
        "keep-cases": "cases_kept",
        "sign-off": "signed_off",
        "archive": "signed_report_taken",
    },
}


def name_proofs(apps: StateApps, _editor: object) -> None:
    """Say of the shipped steps that stand in a hub, also in a curator's versions, what shows that they are done."""
    Step = apps.get_model("review", "ScenarioStep")
    for code, proofs in PROOFS.items():
        for action, proof in proofs.items():
            Step.objects.filter(scenario__code=code, action=action).update(proof=proof)


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0022_approved_at'),
    ]

    operations = [
        migrations.AddField(
            model_name='scenarioprogress',
            name='started_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name='scenariostep',
            name='proof',
            field=models.CharField(blank=True, choices=[('', 'ticked off by hand'), ('text_ready', "the document's text has been taken in"), ('text_read', 'the person has opened the document'), ('reviewed', 'a review of the document is finished'), ('results_read', 'the person has opened the results of a review'), ('findings_decided', 'no finding of a review is open'), ('checks_decided', 'every check of a review is decided'), ('new_version', 'a version after one that was reviewed has been taken in'), ('reviewed_again', 'two versions of the document are reviewed'), ('changes_read', 'the person has compared two reviews or versions'), ('report_taken', 'the person has downloaded a report'), ('answers_read_in', 'answers to findings have been read in'), ('cases_kept', 'the person has kept a decision as a case'), ('signed_off', 'the newest review is signed off'), ('signed_report_taken', 'the person has downloaded a report after the sign-off'), ('measured', 'since the start, the person has run an evaluation'), ('drafted', 'since the start, the person has saved a draft of a check master'), ('published', 'since the start, a check list that the person wrote or approved is published'), ('measured_after', 'after the publication, the person has run an evaluation'), ('reviewed_after', 'after the publication, the person has started a review'), ('trail_read_after', 'after the publication, the person has opened the audit trail')], db_default='', default='', max_length=20, verbose_name='done when'),
        ),
        migrations.RunPython(name_proofs, migrations.RunPython.noop),
    ]
