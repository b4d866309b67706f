"""The reviewed document itself with its findings at the words they are about, and what people write into that file."""

from review.report.annotated.copies import Copy as Copy
from review.report.annotated.copies import annotated_copy as annotated_copy
from review.report.annotated.copies import read_copy as read_copy
from review.report.annotated.next_version import take_next_version as take_next_version
from review.report.annotated.next_version import without_our_notes as without_our_notes
from review.report.annotated.returned import could_be_copy as could_be_copy
