"""The reviewed document itself with its findings at the words they are about, and what people write into that file."""

from review.report.annotated.copies import annotated_copy as annotated_copy
