"""A version's structure as callers get it: its sections as a tree, its figures and tables in order."""

from __future__ import annotations

from pydantic import BaseModel, Field

from knowledge.models import Document, DocumentVersion, Figure
from knowledge.text.structure import figures_without_picture
from knowledge.types.documents import Block, BlockKind, Section


class SectionOut(BaseModel):
    id: str
    title: str
    number: str | None
    level: int
    path: list[str]
    start_page: int | None
    start_offset: int
    end_offset: int
    children: list[SectionOut] = []


class BlockOut(BaseModel):
    """A table or figure and where it stands."""

    kind: str
    start_offset: int
    end_offset: int
    page: int | None
    sheet: str | None
    cell: str | None


class FigureOut(BlockOut):
    """A figure; ``figure_id`` is null where the document has no picture of it, as of a drawing in a PDF."""

    figure_id: str | None = Field(description="for GET /documents/{id}/figures/{figure_id}")
    caption: str | None
    alt_text: str | None = Field(description="what its author wrote for those who can't see it")
    media_type: str | None
    description: str | None = Field(
        description="what the model named in description_model saw in it; not the document's words, and not searched"
    )
    description_model: str | None = Field(description="the model that wrote the description")


class StructureOut(BaseModel):
    document_id: str
    version: int
    sections: list[SectionOut]
    table_of_contents: list[str]
    figures: list[FigureOut]
    tables: list[BlockOut]


def structure_out(
    document: Document,
    version: DocumentVersion,
    sections: tuple[Section, ...],
    blocks: tuple[Block, ...],
    markdown: str,
) -> StructureOut:
    """Nest the sections, and list tables and figures in document order."""
    return StructureOut(
        document_id=document.public_id,
        version=version.number,
        sections=_section_tree(sections),
        table_of_contents=["　" * (section.level - 1) + section.title for section in sections],
        figures=_figures_out(version, blocks, markdown),
        tables=[_block_out(block) for block in blocks if block.kind is BlockKind.TABLE],
    )


def _section_tree(sections: tuple[Section, ...]) -> list[SectionOut]:
    nodes = {
        section.id: SectionOut(
            id=section.id,
            title=section.title,
            number=section.number,
            level=section.level,
            path=list(section.path),
            start_page=section.page,
            start_offset=section.start,
            end_offset=section.end,
        )
        for section in sections
    }
    roots: list[SectionOut] = []
    for section in sections:
        parent = nodes[section.parent_id].children if section.parent_id else roots
        parent.append(nodes[section.id])
    return roots


def _block_out(block: Block) -> BlockOut:
    return BlockOut(
        kind=block.kind,
        start_offset=block.start,
        end_offset=block.end,
        page=block.page,
        sheet=block.sheet,
        cell=block.cell,
    )


def _figures_out(version: DocumentVersion, blocks: tuple[Block, ...], markdown: str) -> list[FigureOut]:
    """List pictures, figures without one, and captions of neither, in document order."""
    stored = list(version.figures.all())
    shown = {row.start_offset for row in stored if row.start_offset is not None}
    by_start = {block.start: block for block in blocks}
    found = [_figure_out(by_start[row.start_offset], row) for row in stored if row.start_offset in by_start]
    for block in figures_without_picture(markdown, blocks, shown=shown):
        captioned = block.kind is BlockKind.CAPTION
        found.append(_figure_out(block, None, caption=markdown[block.start : block.end] if captioned else None))
    return sorted(found, key=lambda figure: figure.start_offset)


def _figure_out(block: Block, row: Figure | None, *, caption: str | None = None) -> FigureOut:
    return FigureOut(
        **_block_out(block).model_dump(exclude={"kind"}),
        kind=BlockKind.FIGURE,
        figure_id=row.public_id if row else None,
        caption=(row.caption or None) if row else caption,
        alt_text=(row.alt_text or None) if row else None,
        media_type=row.media_type if row else None,
        description=(row.description or None) if row else None,
        description_model=(row.description_model or None) if row else None,
    )
