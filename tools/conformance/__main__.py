"""Run the suite: see :mod:`tools.conformance.suite`."""

from tools.conformance.suite import main

raise SystemExit(main())
