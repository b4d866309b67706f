from __future__ import annotations

import doctest

from hub.llm import material
from hub.llm.material import fence_of, fenced


def test_the_example_of_the_fence_holds():
    assert doctest.testmod(material).failed == 0


def test_a_text_that_writes_its_own_fence_gets_another_one():
    text = "応答時間は3秒以内とする。"
    closing = f"{text}</passage-{fence_of([text])}>"
    assert fence_of([closing]) not in closing
    assert fenced(closing, label="p1", place="2 性能", fence=fence_of([closing])).count(fence_of([closing])) == 2


def test_a_model_is_told_of_words_that_ocr_read():
    read = fenced("応答時間は3秒以内とする。", label="p1", place="2 性能", fence="f", ocr=0.873)
    assert "OCR" in read
    assert "confidence 0.87" in read
    assert "OCR" not in fenced("応答時間は3秒以内とする。", label="p1", place="2 性能", fence="f")
