"""Answers from the documents: every sentence with the passages it stands on, or no answer."""

from knowledge.answering.service import answer, follow_answer
from knowledge.answering.types import Answer, AnswerMode, AnswerSentence, Citation, Question

__all__ = ["Answer", "AnswerMode", "AnswerSentence", "Citation", "Question", "answer", "follow_answer"]
