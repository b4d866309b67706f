import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import functools
import hub.core.bounds
import hub.core.given_fields
import hub.core.ids
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models
from pgvector.django import VectorExtension

# Packed postings are numbers that compression makes little smaller and much slower to read.
STORE_PLAIN = "ALTER TABLE knowledge_lexicalposting ALTER COLUMN packed SET STORAGE EXTERNAL"


class Vectors(VectorExtension):
    """pgvector stays when this is taken back: others may use it, and where the hub runs PostgreSQL it isn't its role's."""

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        pass


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('knowledge', '0001_initial'),
        ('knowledge', '0002_sources_figures_and_set_states'),
        ('knowledge', '0003_own_policies_and_sets_of_one_model'),
        ('knowledge', '0004_document_chosen_policy'),
        ('knowledge', '0005_semantic_chunks'),
        ('knowledge', '0006_guidelines'),
        ('knowledge', '0007_ontology'),
        ('knowledge', '0008_search'),
        ('knowledge', '0009_graph'),
        ('knowledge', '0010_figure_descriptions'),
        ('knowledge', '0012_contents_passages'),
        ('knowledge', '0013_bounds_of_collections_and_sources'),
        ('knowledge', '0014_pending_bytes'),
        ('knowledge', '0015_former_slugs'),
        ('knowledge', '0016_paths_by_classification'),
        ('knowledge', '0017_second_person'),
        ('knowledge', '0018_bounds_of_metadata'),
        ('knowledge', '0019_changes_of_guidelines'),
        ('knowledge', '0020_given_bounds'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        Vectors(),
        migrations.CreateModel(
            name='Blob',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('size_bytes', models.PositiveBigIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='DeletionReceipt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('del',), **{}), editable=False, max_length=40, unique=True)),
                ('document_id', models.CharField(max_length=40)),
                ('collection_slug', models.CharField(max_length=63)),
                ('collection_key', models.BigIntegerField(db_index=True, null=True)),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=1)),
                ('counts', models.JSONField(default=dict)),
                ('principal', models.CharField(max_length=150)),
                ('deleted_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='DocumentType',
            fields=[
                ('code', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='code')),
                ('name_ja', models.CharField(max_length=100, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=100, verbose_name='name (en)')),
            ],
            options={
                'verbose_name': 'document type',
                'verbose_name_plural': 'document types',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='DocumentVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('ver',), **{}), editable=False, max_length=40, unique=True)),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('filename', models.CharField(max_length=500, verbose_name='file name')),
                ('format', models.CharField(blank=True, max_length=20, verbose_name='format')),
                ('has_own_policy', models.BooleanField(default=False, editable=False)),
                ('status', models.CharField(choices=[('stored', 'stored'), ('parsing', 'parsing'), ('chunking', 'chunking'), ('embedding', 'embedding'), ('ready', 'ready'), ('needs_ocr', 'needs OCR'), ('failed', 'failed'), ('retired', 'retired')], default='stored', editable=False, max_length=12, verbose_name='state')),
                ('status_code', models.CharField(blank=True, editable=False, max_length=60)),
                ('status_reason_ja', models.TextField(blank=True, editable=False)),
                ('status_reason_en', models.TextField(blank=True, editable=False)),
                ('progress', models.PositiveSmallIntegerField(default=0, editable=False, verbose_name='progress')),
                ('attempts', models.PositiveSmallIntegerField(default=0, editable=False, verbose_name='attempts')),
                ('lease_token', models.CharField(blank=True, editable=False, max_length=40)),
                ('lease_expires_at', models.DateTimeField(editable=False, null=True)),
                ('notices', models.JSONField(default=list, editable=False)),
                ('pages_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='pages')),
                ('sections_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='sections')),
                ('tables_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='tables')),
                ('figures_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='figures')),
                ('character_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='characters')),
                ('chunks_count', models.PositiveIntegerField(editable=False, null=True, verbose_name='chunks')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('queued_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('finished_at', models.DateTimeField(editable=False, null=True, verbose_name='finished')),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='knowledge.blob')),
            ],
            options={
                'verbose_name': 'document version',
                'verbose_name_plural': 'document versions',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='EdgeType',
            fields=[
                ('code', models.CharField(max_length=40, primary_key=True, serialize=False, validators=[django.core.validators.RegexValidator('^[A-Za-z][A-Za-z0-9_]{0,39}\\Z', '1 to 40 ASCII letters, digits and _, a letter first.')], verbose_name='code')),
                ('name_ja', models.CharField(max_length=100, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=100, verbose_name='name (en)')),
            ],
            options={
                'verbose_name': 'edge type',
                'verbose_name_plural': 'edge types',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='FormerSlug',
            fields=[
                ('slug', models.CharField(max_length=63, primary_key=True, serialize=False)),
                ('deleted_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='GraphMaster',
            fields=[
                ('name', models.CharField(max_length=60, primary_key=True, serialize=False)),
                ('fingerprint', models.CharField(blank=True, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='GraphRevision',
            fields=[
                ('space', models.BigIntegerField(primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='PendingBytes',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('deleted', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='WorkerHeartbeat',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='ChunkPolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('strategy', models.CharField(choices=[('section', 'section'), ('fixed', 'fixed'), ('semantic', 'semantic')], max_length=20)),
                ('size', models.PositiveIntegerField()),
                ('overlap', models.PositiveIntegerField()),
                ('unit', models.CharField(choices=[('tokens', 'tokens'), ('characters', 'characters')], max_length=20)),
            ],
            options={
                'verbose_name': 'chunk policy',
                'verbose_name_plural': 'chunk policies',
                'constraints': [models.UniqueConstraint(fields=('strategy', 'size', 'overlap', 'unit'), name='one_row_per_chunk_policy')],
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=63, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9][a-z0-9_-]{0,62}$', '1 to 63 lower-case letters, digits, - and _.')], verbose_name='slug')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('description', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description')),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=2, verbose_name='classification')),
                ('retention_days', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='retention (days)')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
            ],
            options={
                'verbose_name': 'collection',
                'verbose_name_plural': 'collections',
                'ordering': ['slug'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('retention_days__gte', 1), ('retention_days__lte', 36500)), ('retention_days__isnull', True), _connector='OR'), name='knowledge_collection_retention_days_bounds'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description'), 10000), name='knowledge_collection_description_length')],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('doc',), **{}), editable=False, max_length=40, unique=True, verbose_name='id')),
                ('path', models.CharField(max_length=1000, verbose_name='path')),
                ('title', models.CharField(max_length=500, verbose_name='title')),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=2, verbose_name='classification')),
                ('source_root', models.CharField(blank=True, editable=False, max_length=1000, verbose_name='source folder')),
                ('source_stamp', models.CharField(blank=True, editable=False, max_length=60)),
                ('metadata', hub.core.given_fields.GivenJson(blank=True, default=dict, verbose_name='metadata')),
                ('retired_at', models.DateTimeField(editable=False, null=True, verbose_name='retired')),
                ('legal_hold', models.CharField(blank=True, max_length=300, verbose_name='legal hold (reason)')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('chosen_policy', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='knowledge.collection', verbose_name='collection')),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='uploaded by')),
                ('document_type', models.ForeignKey(default='other', on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.documenttype', verbose_name='document type')),
            ],
            options={
                'verbose_name': 'document',
                'verbose_name_plural': 'documents',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='VersionContent',
            fields=[
                ('version', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='content', serialize=False, to='knowledge.documentversion')),
                ('title', models.CharField(blank=True, max_length=500)),
                ('markdown', models.TextField()),
                ('blocks', models.JSONField(default=list)),
                ('sections', models.JSONField(default=list)),
                ('pages', models.JSONField(default=list)),
                ('metadata', models.JSONField(default=dict)),
            ],
        ),
        migrations.AddField(
            model_name='documentversion',
            name='document',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='knowledge.document'),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='policy',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy'),
        ),
        migrations.AddField(
            model_name='document',
            name='current_version',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.documentversion'),
        ),
        migrations.AddField(
            model_name='document',
            name='latest_version',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.documentversion'),
        ),
        migrations.CreateModel(
            name='Chunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(max_length=40, unique=True)),
                ('index', models.PositiveIntegerField(verbose_name='index')),
                ('content', models.TextField(verbose_name='content')),
                ('context_prefix', models.TextField(blank=True)),
                ('section_path', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None, verbose_name='section')),
                ('page', models.PositiveIntegerField(null=True, verbose_name='page')),
                ('cell', models.CharField(max_length=60, null=True, verbose_name='cells')),
                ('start_offset', models.PositiveIntegerField()),
                ('end_offset', models.PositiveIntegerField()),
                ('token_count', models.PositiveIntegerField(verbose_name='tokens')),
                ('has_table', models.BooleanField(default=False)),
                ('has_figure', models.BooleanField(default=False)),
                ('language', models.CharField(max_length=8, null=True)),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='knowledge.documentversion')),
            ],
            options={
                'verbose_name': 'chunk',
                'verbose_name_plural': 'chunks',
                'ordering': ['id'],
                'constraints': [
                    models.UniqueConstraint(fields=('version', 'policy', 'index'), name='one_chunk_per_index'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('backend', models.CharField(max_length=40, verbose_name='backend')),
                ('model', models.CharField(max_length=200, verbose_name='model')),
                ('fingerprint', models.CharField(max_length=100, verbose_name='fingerprint')),
                ('dimension', models.PositiveIntegerField(verbose_name='dimension')),
                ('max_tokens', models.PositiveIntegerField(verbose_name='token limit')),
                ('base_url', models.CharField(blank=True, max_length=300, verbose_name='URL of the backend')),
                ('is_active', models.BooleanField(default=False, verbose_name='active')),
                ('status', models.CharField(choices=[('building', 'building'), ('ready', 'ready'), ('dropped', 'dropped')], default='ready', max_length=10, verbose_name='state')),
                ('status_reason', models.TextField(blank=True, editable=False, verbose_name='reason')),
                ('lease_token', models.CharField(blank=True, editable=False, max_length=40)),
                ('lease_expires_at', models.DateTimeField(editable=False, null=True)),
                ('build_started_at', models.DateTimeField(editable=False, null=True, verbose_name='build started')),
                ('built_at', models.DateTimeField(editable=False, null=True, verbose_name='built')),
                ('passages_per_second', models.FloatField(editable=False, null=True, verbose_name='passages per second')),
                ('activated_at', models.DateTimeField(editable=False, null=True, verbose_name='activated')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy', verbose_name='chunk policy')),
            ],
            options={
                'verbose_name': 'embedding set',
                'verbose_name_plural': 'embedding sets',
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('is_active', True)), fields=('is_active',), name='one_active_embedding_set'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ChunkVector',
            fields=[
                ('pk', models.CompositePrimaryKey('embedding_set_id', 'chunk_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
                ('chunk', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='knowledge.chunk')),
                ('embedding_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.embeddingset')),
            ],
        ),
        migrations.CreateModel(
            name='Figure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('fig',), **{}), editable=False, max_length=40, unique=True)),
                ('index', models.PositiveIntegerField()),
                ('media_type', models.CharField(max_length=60)),
                ('caption', models.TextField(blank=True)),
                ('alt_text', models.TextField(blank=True)),
                ('page', models.PositiveIntegerField(null=True)),
                ('cell', models.CharField(max_length=60, null=True)),
                ('start_offset', models.PositiveIntegerField(null=True)),
                ('end_offset', models.PositiveIntegerField(null=True)),
                ('description', models.TextField(blank=True)),
                ('description_model', models.CharField(blank=True, max_length=200)),
                ('description_attempts', models.PositiveSmallIntegerField(default=0)),
                ('description_not_before', models.DateTimeField(default=django.utils.timezone.now, null=True)),
                ('description_error', models.CharField(blank=True, max_length=60)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='knowledge.blob')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='figures', to='knowledge.documentversion')),
            ],
            options={
                'verbose_name': 'figure',
                'verbose_name_plural': 'figures',
                'ordering': ['version', 'index'],
                'constraints': [
                    models.UniqueConstraint(fields=('version', 'index'), name='one_figure_per_index'),
                ],
            },
        ),
        migrations.CreateModel(
            name='GraphNode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(editable=False, max_length=60, unique=True, verbose_name='id')),
                ('key', models.CharField(editable=False, max_length=300)),
                ('name', models.CharField(max_length=500, verbose_name='name')),
                ('code', models.CharField(blank=True, max_length=100, verbose_name='code')),
                ('aliases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None, verbose_name='aliases')),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=500), default=list, editable=False, size=None)),
                ('properties', models.JSONField(blank=True, default=dict, validators=[hub.core.bounds.WithinJsonLimits()], verbose_name='properties')),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=1, editable=False, verbose_name='classification')),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('collection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='graph_nodes', to='knowledge.collection', verbose_name='collection')),
            ],
            options={
                'verbose_name': 'graph node',
                'verbose_name_plural': 'graph nodes',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='GraphEdge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('properties', models.JSONField(blank=True, default=dict, validators=[hub.core.bounds.WithinJsonLimits()], verbose_name='properties')),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=1, editable=False)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('collection', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.collection')),
                ('type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.edgetype', verbose_name='type')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outgoing', to='knowledge.graphnode', verbose_name='from')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='incoming', to='knowledge.graphnode', verbose_name='to')),
            ],
            options={
                'verbose_name': 'graph edge',
                'verbose_name_plural': 'graph edges',
                'ordering': ['-id'],
                'indexes': [
                    models.Index(fields=['source', 'type'], include=('target', 'classification'), name='graph_edge_forward'),
                    models.Index(fields=['target', 'type'], include=('source', 'classification'), name='graph_edge_backward'),
                    models.Index(fields=['collection', 'revision'], name='graph_edge_changes'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('source', 'type', 'target'), name='one_edge_per_ends_and_type'),
                ],
            },
        ),
        migrations.CreateModel(
            name='GraphContribution',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('document', 'document'), ('master', 'master'), ('curator', 'curator')], max_length=10, verbose_name='kind')),
                ('source', models.CharField(blank=True, max_length=150, verbose_name='master or curator')),
                ('classification', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=1)),
                ('start', models.PositiveIntegerField(null=True)),
                ('end', models.PositiveIntegerField(null=True)),
                ('rank', models.PositiveSmallIntegerField(default=0)),
                ('facts', models.JSONField(default=dict)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='graph_contributions', to='knowledge.document')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
                ('edge', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='contributions', to='knowledge.graphedge')),
                ('node', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='contributions', to='knowledge.graphnode')),
            ],
            options={
                'verbose_name': 'graph contribution',
                'verbose_name_plural': 'graph contributions',
                'indexes': [
                    models.Index(condition=models.Q(('kind', 'document'), _negated=True), fields=['kind', 'source'], name='contribution_by_source'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('edge__isnull', True), ('node__isnull', False)), models.Q(('edge__isnull', False), ('node__isnull', True)), _connector='OR'), name='contribution_supports_one_thing'),
                    models.CheckConstraint(condition=models.Q(models.Q(('kind', 'document'), _negated=True), models.Q(('document__isnull', False), ('version__isnull', False)), _connector='OR'), name='contribution_of_a_document_has_one'),
                    models.CheckConstraint(condition=models.Q(models.Q(('kind', 'curator'), _negated=True), django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('facts', models.TextField())), 262144), _connector='OR'), name='knowledge_graphcontribution_facts_size'),
                ],
            },
        ),
        migrations.CreateModel(
            name='GraphRemoval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('space', models.BigIntegerField()),
                ('revision', models.BigIntegerField()),
                ('node_id', models.CharField(blank=True, max_length=60)),
                ('source_id', models.CharField(blank=True, max_length=60)),
                ('target_id', models.CharField(blank=True, max_length=60)),
                ('edge_type', models.CharField(blank=True, max_length=40)),
                ('removed_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(fields=['space', 'revision'], name='graph_removals')],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.SlugField(max_length=60, unique=True, verbose_name='code')),
                ('prefix', models.CharField(max_length=11, unique=True, validators=[django.core.validators.RegexValidator('^[A-Z][A-Z0-9]{0,9}-$')], verbose_name='prefix of article codes')),
                ('name_ja', models.CharField(max_length=200, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=200, verbose_name='name (en)')),
                ('source', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='source')),
                ('publisher', models.CharField(blank=True, max_length=200, verbose_name='publisher')),
                ('licence', models.CharField(blank=True, max_length=200, verbose_name='licence')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
            ],
            options={
                'verbose_name': 'guideline',
                'verbose_name_plural': 'guidelines',
                'ordering': ['code'],
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('source'), 10000), name='knowledge_guideline_source_length')],
            },
        ),
        migrations.CreateModel(
            name='GuidelineEdition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, verbose_name='edition')),
                ('label', models.CharField(blank=True, max_length=100, verbose_name='label')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('published', 'published'), ('retired', 'retired')], default='draft', max_length=10, verbose_name='state')),
                ('effective_date', models.DateField(blank=True, null=True, verbose_name='in force from')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('published_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='published')),
                ('published_by', models.CharField(blank=True, editable=False, max_length=150, verbose_name='published by')),
                ('retired_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='retired')),
                ('guideline_changes', hub.core.given_fields.GivenJson(blank=True, default=dict, editable=False, verbose_name='changes of the guideline')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='editions', to='knowledge.guideline', verbose_name='guideline')),
            ],
            options={
                'verbose_name': 'guideline edition',
                'verbose_name_plural': 'guideline editions',
                'ordering': ['guideline__code', '-number'],
                'constraints': [
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('guideline_changes', models.TextField())), 262144), name='knowledge_guidelineedition_guideline_changes_size'),
                    models.UniqueConstraint(fields=('guideline', 'number'), name='one_guideline_edition_per_number'),
                    models.UniqueConstraint(condition=models.Q(('status', 'published')), fields=('guideline',), name='one_published_edition_per_guideline'),
                ],
            },
        ),
        migrations.CreateModel(
            name='GuidelineArticle',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, verbose_name='position')),
                ('code', models.CharField(max_length=60, verbose_name='code')),
                ('number', models.CharField(max_length=40, verbose_name='number')),
                ('title', models.CharField(max_length=300, verbose_name='title')),
                ('text', hub.core.given_fields.GivenText(blank=True, max_length=100000, verbose_name='text')),
                ('category', models.CharField(blank=True, max_length=100, verbose_name='category')),
                ('severity', models.CharField(choices=[('critical', 'critical'), ('major', 'major'), ('minor', 'minor'), ('info', 'info')], default='minor', max_length=10, verbose_name='severity')),
                ('document_types', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=40), blank=True, default=list, most=500, size=None, verbose_name='document types')),
                ('headings', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=200), blank=True, default=list, most=500, size=None, verbose_name='typical headings')),
                ('applies_when', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=300), blank=True, default=list, most=500, size=None, verbose_name='applies with headings')),
                ('required_elements', hub.core.given_fields.GivenJson(blank=True, default=list, verbose_name='required elements')),
                ('source', models.CharField(blank=True, max_length=300, verbose_name='source')),
                ('source_edition', models.CharField(blank=True, max_length=100, verbose_name='edition of the source')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='knowledge.guidelinearticle')),
                ('edition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='articles', to='knowledge.guidelineedition')),
            ],
            options={
                'verbose_name': 'guideline article',
                'verbose_name_plural': 'guideline articles',
                'ordering': ['edition', 'position'],
                'constraints': [
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 100000), name='knowledge_guidelinearticle_text_length'),
                    models.CheckConstraint(condition=models.Q(('document_types__len__lte', 500)), name='knowledge_guidelinearticle_document_types_items'),
                    models.CheckConstraint(condition=models.Q(('headings__len__lte', 500)), name='knowledge_guidelinearticle_headings_items'),
                    models.CheckConstraint(condition=models.Q(('applies_when__len__lte', 500)), name='knowledge_guidelinearticle_applies_when_items'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('required_elements', models.TextField())), 1048576), name='knowledge_guidelinearticle_required_elements_size'),
                    models.UniqueConstraint(fields=('edition', 'code'), name='one_article_per_code_in_edition'),
                ],
            },
        ),
        migrations.CreateModel(
            name='LexicalEntry',
            fields=[
                ('ordinal', models.AutoField(primary_key=True, serialize=False)),
                ('words_length', models.PositiveIntegerField()),
                ('bigrams_length', models.PositiveIntegerField()),
                ('fingerprint', models.BigIntegerField(null=True)),
                ('is_contents', models.BooleanField(db_default=False, default=False)),
                ('analysis', models.PositiveSmallIntegerField(db_index=True)),
                ('chunk', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='lexical_entry', to='knowledge.chunk')),
                ('policy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.chunkpolicy')),
            ],
        ),
        migrations.CreateModel(
            name='LexicalSegment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinals', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('policy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.chunkpolicy')),
            ],
        ),
        migrations.CreateModel(
            name='LexicalStatistics',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.PositiveSmallIntegerField(choices=[(1, 'word'), (2, 'bigram')])),
                ('chunks', models.PositiveBigIntegerField(default=0)),
                ('total_length', models.PositiveBigIntegerField(default=0)),
                ('policy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.chunkpolicy')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('field', 'policy'), name='one_row_of_lexical_statistics', nulls_distinct=False),
                ],
            },
        ),
        migrations.CreateModel(
            name='LexicalTerm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.PositiveSmallIntegerField(choices=[(1, 'word'), (2, 'bigram')])),
                ('text', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('field', 'text'), name='one_row_per_lexical_term')],
            },
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
            name='NodeType',
            fields=[
                ('code', models.CharField(max_length=40, primary_key=True, serialize=False, validators=[django.core.validators.RegexValidator('^[A-Za-z][A-Za-z0-9_]{0,39}\\Z', '1 to 40 ASCII letters, digits and _, a letter first.')], verbose_name='code')),
                ('name_ja', models.CharField(max_length=100, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=100, verbose_name='name (en)')),
                ('aliases', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=100), blank=True, default=list, most=500, size=None, verbose_name='aliases')),
                ('color', models.CharField(default='#64748b', max_length=7, validators=[django.core.validators.RegexValidator('^#[0-9a-fA-F]{6}\\Z', 'Six hexadecimal digits after #.')], verbose_name='colour')),
            ],
            options={
                'verbose_name': 'node type',
                'verbose_name_plural': 'node types',
                'ordering': ['code'],
                'constraints': [models.CheckConstraint(condition=models.Q(('aliases__len__lte', 500)), name='knowledge_nodetype_aliases_items')],
            },
        ),
        migrations.CreateModel(
            name='IdentifierPattern',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pattern', models.CharField(max_length=200, unique=True, verbose_name='regular expression')),
                ('is_active', models.BooleanField(default=True, verbose_name='active')),
                ('note', models.CharField(blank=True, max_length=200, verbose_name='note')),
                ('node_type', models.ForeignKey(default='Requirement', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.nodetype', verbose_name='node type')),
            ],
            options={
                'verbose_name': 'identifier pattern',
                'verbose_name_plural': 'identifier patterns',
                'ordering': ['pattern'],
            },
        ),
        migrations.AddField(
            model_name='graphnode',
            name='type',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.nodetype', verbose_name='type'),
        ),
        migrations.CreateModel(
            name='EdgeEnds',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('edge_type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ends', to='knowledge.edgetype', verbose_name='edge type')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.nodetype', verbose_name='from')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.nodetype', verbose_name='to')),
            ],
            options={
                'verbose_name': 'joined types',
                'verbose_name_plural': 'joined types',
                'ordering': ['edge_type', 'source', 'target'],
                'constraints': [
                    models.UniqueConstraint(fields=('edge_type', 'source', 'target'), name='one_pair_per_edge_type'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Ontology',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('domain', models.CharField(max_length=60, verbose_name='domain')),
                ('number', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('name_ja', models.CharField(max_length=200, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=200, verbose_name='name (en)')),
                ('document_types', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=40), default=list, most=500, size=None, verbose_name='document types')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('published', 'published'), ('retired', 'retired')], default='draft', max_length=10, verbose_name='state')),
                ('shipped_version', models.CharField(blank=True, editable=False, max_length=20, verbose_name='shipped version')),
                ('remainder', hub.core.given_fields.GivenText(blank=True, editable=False, max_length=67108864, verbose_name='other statements')),
                ('suppressed', hub.core.given_fields.GivenText(blank=True, editable=False, max_length=67108864)),
                ('prefixes', hub.core.given_fields.GivenJson(blank=True, default=list, editable=False)),
                ('kept_only', models.JSONField(blank=True, default=list, editable=False, verbose_name='kept, not used')),
                ('shapes_report', models.JSONField(blank=True, editable=False, null=True, verbose_name='SHACL report')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('created_by', models.CharField(blank=True, editable=False, max_length=150, verbose_name='created by')),
                ('published_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='published')),
                ('published_by', models.CharField(blank=True, editable=False, max_length=150, verbose_name='published by')),
                ('retired_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='retired')),
                ('retired_by', models.CharField(blank=True, editable=False, max_length=150, verbose_name='retired by')),
                ('based_on', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.ontology', verbose_name='based on')),
            ],
            options={
                'verbose_name': 'ontology',
                'verbose_name_plural': 'ontologies',
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('document_types__len__lte', 500)), name='knowledge_ontology_document_types_items'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('remainder'), 67108864), name='knowledge_ontology_remainder_length'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('suppressed'), 67108864), name='knowledge_ontology_suppressed_length'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('prefixes', models.TextField())), 1048576), name='knowledge_ontology_prefixes_size'),
                    models.UniqueConstraint(fields=('domain', 'number'), name='one_ontology_per_version'),
                    models.UniqueConstraint(condition=models.Q(('status', 'published')), fields=('domain',), name='one_published_ontology_per_domain'),
                ],
            },
        ),
        migrations.CreateModel(
            name='OntologyClass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=80, verbose_name='code')),
                ('iri', models.CharField(max_length=500, verbose_name='IRI')),
                ('kind', models.CharField(choices=[('owl', 'OWL class'), ('rdfs', 'RDFS class'), ('concept', 'SKOS concept')], default='owl', editable=False, max_length=10, verbose_name='kind')),
                ('label_ja', models.CharField(max_length=200, verbose_name='label (ja)')),
                ('label_en', models.CharField(max_length=200, verbose_name='label (en)')),
                ('definition_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='definition (ja)')),
                ('definition_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='definition (en)')),
                ('synonyms', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=200), blank=True, default=list, most=500, size=None, verbose_name='synonyms')),
                ('cues', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=1000), blank=True, default=list, most=500, size=None, verbose_name='cues')),
                ('exclusions', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=1000), blank=True, default=list, most=500, size=None, verbose_name='exclusions')),
                ('position', models.PositiveIntegerField(default=0, verbose_name='position')),
                ('is_topic', models.BooleanField(default=False, help_text='Coverage checks look for it.', verbose_name='documents are expected to treat it')),
                ('required', models.BooleanField(default=False, verbose_name='required')),
                ('severity', models.CharField(default='major', max_length=10, verbose_name='severity')),
                ('category', models.CharField(blank=True, max_length=100, verbose_name='category')),
                ('whole_document', models.BooleanField(default=False, verbose_name='about the whole document')),
                ('expected_location', models.CharField(blank=True, max_length=200, verbose_name='expected location (ja)')),
                ('expected_location_en', models.CharField(blank=True, max_length=200, verbose_name='expected location (en)')),
                ('elements_ja', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=300), blank=True, default=list, most=500, size=None, verbose_name='elements (ja)')),
                ('elements_en', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=300), blank=True, default=list, most=500, size=None, verbose_name='elements (en)')),
                ('example', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='example (plain style)')),
                ('example_polite', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='example (polite style)')),
                ('ontology', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='classes', to='knowledge.ontology', verbose_name='ontology')),
                ('parents', models.ManyToManyField(blank=True, related_name='children', to='knowledge.ontologyclass', verbose_name='parent classes')),
            ],
            options={
                'verbose_name': 'ontology class',
                'verbose_name_plural': 'ontology classes',
                'ordering': ['ontology', 'position', 'code'],
                'constraints': [
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('definition_ja'), 10000), name='knowledge_ontologyclass_definition_ja_length'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('definition_en'), 10000), name='knowledge_ontologyclass_definition_en_length'),
                    models.CheckConstraint(condition=models.Q(('synonyms__len__lte', 500)), name='knowledge_ontologyclass_synonyms_items'),
                    models.CheckConstraint(condition=models.Q(('cues__len__lte', 500)), name='knowledge_ontologyclass_cues_items'),
                    models.CheckConstraint(condition=models.Q(('exclusions__len__lte', 500)), name='knowledge_ontologyclass_exclusions_items'),
                    models.CheckConstraint(condition=models.Q(('elements_ja__len__lte', 500)), name='knowledge_ontologyclass_elements_ja_items'),
                    models.CheckConstraint(condition=models.Q(('elements_en__len__lte', 500)), name='knowledge_ontologyclass_elements_en_items'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('example'), 10000), name='knowledge_ontologyclass_example_length'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('example_polite'), 10000), name='knowledge_ontologyclass_example_polite_length'),
                    models.UniqueConstraint(fields=('ontology', 'code'), name='one_class_per_code'),
                    models.UniqueConstraint(fields=('ontology', 'iri'), name='one_class_per_iri'),
                ],
            },
        ),
        migrations.CreateModel(
            name='OntologyProperty',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=80, verbose_name='code')),
                ('iri', models.CharField(max_length=500, verbose_name='IRI')),
                ('kind', models.CharField(choices=[('object', 'between individuals'), ('datatype', 'with a literal value'), ('annotation', 'annotation'), ('rdf', 'RDF property')], default='object', max_length=10, verbose_name='kind')),
                ('label_ja', models.CharField(max_length=200, verbose_name='label (ja)')),
                ('label_en', models.CharField(max_length=200, verbose_name='label (en)')),
                ('datatype', models.CharField(blank=True, max_length=200, verbose_name='type of the value')),
                ('is_transitive', models.BooleanField(default=False, verbose_name='transitive')),
                ('is_symmetric', models.BooleanField(default=False, verbose_name='symmetric')),
                ('is_functional', models.BooleanField(default=False, verbose_name='functional')),
                ('domains', models.ManyToManyField(blank=True, related_name='+', to='knowledge.ontologyclass', verbose_name='domain of the property')),
                ('inverse_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.ontologyproperty', verbose_name='inverse of')),
                ('ontology', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='properties', to='knowledge.ontology', verbose_name='ontology')),
                ('parents', models.ManyToManyField(blank=True, related_name='children', to='knowledge.ontologyproperty', verbose_name='sub-property of')),
                ('ranges', models.ManyToManyField(blank=True, related_name='+', to='knowledge.ontologyclass', verbose_name='range')),
            ],
            options={
                'verbose_name': 'ontology property',
                'verbose_name_plural': 'ontology properties',
                'ordering': ['ontology', 'code'],
                'constraints': [
                    models.UniqueConstraint(fields=('ontology', 'code'), name='one_property_per_code'),
                    models.UniqueConstraint(fields=('ontology', 'iri'), name='one_property_per_iri'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('kind', models.CharField(choices=[('folder', 'folder'), ('s3', 'S3 bucket')], default='folder', max_length=10, verbose_name='kind')),
                ('location', models.CharField(max_length=1000, verbose_name='folder, or s3://bucket/prefix')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('scan_every_minutes', models.PositiveIntegerField(default=15, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(525600)], verbose_name='scan every (minutes)')),
                ('scanned_at', models.DateTimeField(editable=False, null=True, verbose_name='last scan')),
                ('report', models.JSONField(default=dict, editable=False, verbose_name='last report')),
                ('lease_token', models.CharField(blank=True, editable=False, max_length=40)),
                ('lease_expires_at', models.DateTimeField(editable=False, null=True)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='knowledge.collection')),
                ('policy', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy')),
            ],
            options={
                'verbose_name': 'source',
                'verbose_name_plural': 'sources',
                'ordering': ['name'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('scan_every_minutes__gte', 1), ('scan_every_minutes__lte', 525600)), ('scan_every_minutes__isnull', True), _connector='OR'), name='knowledge_source_scan_every_minutes_bounds'),
                ],
            },
        ),
        migrations.CreateModel(
            name='CollectionGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('reader', 'Reader'), ('reviewer', 'Reviewer'), ('curator', 'Curator'), ('auditor', 'Auditor'), ('administrator', 'Administrator')], default='reader', max_length=20, verbose_name='role')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='knowledge.collection')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='auth.group', verbose_name='group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'grant',
                'verbose_name_plural': 'grants',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', True), ('user__isnull', False)), models.Q(('group__isnull', False), ('user__isnull', True)), _connector='OR'), name='grant_is_for_a_user_or_a_group', violation_error_message='Choose a user or a group, not both.'), models.UniqueConstraint(fields=('collection', 'user', 'role'), name='one_grant_per_user_and_role'), models.UniqueConstraint(fields=('collection', 'group', 'role'), name='one_grant_per_group_and_role')],
            },
        ),
        migrations.CreateModel(
            name='DocumentGraph',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='graph', serialize=False, to='knowledge.document')),
                ('document_updated_at', models.DateTimeField(null=True)),
                ('rules', models.CharField(blank=True, max_length=32)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(default=django.utils.timezone.now)),
                ('error', models.CharField(blank=True, max_length=300, verbose_name='error')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.documentversion')),
            ],
        ),
        migrations.AddIndex(
            model_name='documentversion',
            index=models.Index(condition=models.Q(('status__in', ('stored', 'parsing', 'chunking', 'embedding'))), fields=['queued_at'], name='version_in_work'),
        ),
        migrations.AddIndex(
            model_name='documentversion',
            index=models.Index(fields=['status', '-id'], name='version_by_status'),
        ),
        migrations.AddConstraint(
            model_name='documentversion',
            constraint=models.UniqueConstraint(fields=('document', 'number'), name='one_version_per_number'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(fields=('collection', 'path', 'classification'), name='one_document_per_place'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('metadata', models.TextField())), 262144), name='knowledge_document_metadata_size'),
        ),
        migrations.AddIndex(
            model_name='graphnode',
            index=django.contrib.postgres.indexes.GinIndex(fields=['keys'], name='graph_node_by_key'),
        ),
        migrations.AddIndex(
            model_name='graphnode',
            index=models.Index(fields=['collection', 'type', 'key'], name='graph_node_by_place'),
        ),
        migrations.AddIndex(
            model_name='graphnode',
            index=models.Index(fields=['collection', 'revision'], name='graph_node_changes'),
        ),
        migrations.AddIndex(
            model_name='graphnode',
            index=models.Index(fields=['type', '-id'], name='graph_node_by_type'),
        ),
        migrations.RunSQL(STORE_PLAIN, migrations.RunSQL.noop),
    ]
