"""The kernel and the composition of the hub.

Importing it settles one thing for the whole process and its children: onnxruntime for Linux sends usage events to its
maker unless this variable is set before it is imported. A hub makes no connection that its settings do not name.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
