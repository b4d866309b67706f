"""Reading documents: one parser per format, run in a child process with limits.

``parse_isolated`` is what the pipeline calls; the parsers themselves are loaded in the child only.
"""

from knowledge.parsers.detect import SUPPORTED_FORMATS
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import parse_isolated
