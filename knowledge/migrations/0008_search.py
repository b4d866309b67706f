import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SET_ASIDE = """
ALTER TABLE knowledge_lexicalposting RENAME TO knowledge_lexicalposting_old;
ALTER INDEX knowledge_lexicalposting_pkey RENAME TO knowledge_lexicalposting_old_pkey;
"""
# Packed postings are numbers that compression makes little smaller and much slower to read.
STORE_PLAIN = "ALTER TABLE knowledge_lexicalposting ALTER COLUMN packed SET STORAGE EXTERNAL"
# Everything of before counts as made by edition 1 of the analysis, and is indexed again in the background.
CONVERT = """
INSERT INTO knowledge_lexicalentry (chunk_id, policy_id, words_length, bigrams_length, fingerprint, analysis)
SELECT c.id, CASE WHEN v.has_own_policy THEN NULL ELSE c.policy_id END,
  coalesce(max(p.length) FILTER (WHERE t.field = 1), 0), coalesce(max(p.length) FILTER (WHERE t.field = 2), 0), NULL, 1
FROM knowledge_lexicalposting_old p JOIN knowledge_lexicalterm t ON t.id = p.term_id
JOIN knowledge_chunk c ON c.id = p.chunk_id JOIN knowledge_documentversion v ON v.id = c.version_id
GROUP BY c.id, v.has_own_policy ORDER BY c.id;

INSERT INTO knowledge_lexicalsegment (policy_id, ordinals)
SELECT policy_id, array_agg(ordinal ORDER BY ordinal) FROM knowledge_lexicalentry GROUP BY policy_id;

INSERT INTO knowledge_lexicalposting (term_id, segment_id, chunks, packed)
SELECT p.term_id, s.id, count(*), string_agg(
  int4send(e.ordinal) || int2send(least(p.tf, 32767)::int2) || int2send(least(p.length, 32767)::int2), ''::bytea
  ORDER BY e.ordinal
)
FROM knowledge_lexicalposting_old p JOIN knowledge_lexicalentry e ON e.chunk_id = p.chunk_id
JOIN knowledge_lexicalsegment s ON s.policy_id IS NOT DISTINCT FROM e.policy_id
GROUP BY p.term_id, s.id;

INSERT INTO knowledge_lexicalstatistics (field, policy_id, chunks, total_length)
SELECT f.field, e.policy_id, count(*) FILTER (WHERE f.length > 0), sum(f.length)
FROM knowledge_lexicalentry e
CROSS JOIN LATERAL (VALUES (1, e.words_length), (2, e.bigrams_length)) AS f (field, length)
GROUP BY f.field, e.policy_id;

DROP TABLE knowledge_lexicalposting_old;
"""
POLICY = {
    'null': True,
    'on_delete': django.db.models.deletion.CASCADE,
    'related_name': '+',
    'to': 'knowledge.chunkpolicy',
}


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0007_ontology'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(SET_ASIDE)],
            state_operations=[migrations.DeleteModel(name='LexicalPosting')],
        ),
        migrations.DeleteModel(name='LexicalStatistics'),
        migrations.CreateModel(
            name='LexicalEntry',
            fields=[
                ('ordinal', models.AutoField(primary_key=True, serialize=False)),
                ('words_length', models.PositiveIntegerField()),
                ('bigrams_length', models.PositiveIntegerField()),
                ('fingerprint', models.BigIntegerField(null=True)),
                ('analysis', models.PositiveSmallIntegerField(db_index=True)),
                ('chunk', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='lexical_entry', to='knowledge.chunk')),
                ('policy', models.ForeignKey(**POLICY)),
            ],
        ),
        migrations.CreateModel(
            name='LexicalSegment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinals', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('policy', models.ForeignKey(**POLICY)),
            ],
        ),
        migrations.CreateModel(
            name='LexicalPosting',
            fields=[
                ('pk', models.CompositePrimaryKey('term_id', 'segment_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chunks', models.PositiveIntegerField()),
                ('packed', models.BinaryField()),
                ('segment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='postings', to='knowledge.lexicalsegment')),
                ('term', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.lexicalterm')),
            ],
        ),
        migrations.CreateModel(
            name='LexicalStatistics',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.PositiveSmallIntegerField(choices=[(1, 'word'), (2, 'bigram')])),
                ('chunks', models.PositiveBigIntegerField(default=0)),
                ('total_length', models.PositiveBigIntegerField(default=0)),
                ('policy', models.ForeignKey(**POLICY)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('field', 'policy'), name='one_row_of_lexical_statistics', nulls_distinct=False)],
            },
        ),
        migrations.RunSQL(STORE_PLAIN),
        migrations.RunSQL(CONVERT),
    ]
