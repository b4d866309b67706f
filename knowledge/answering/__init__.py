"""Answers from the documents: every sentence with the passages it stands on, or no answer."""

from knowledge.answering.asked import asks_something, read_asked
from knowledge.answering.beside import search_passages
from knowledge.answering.schemas import AnswerOut, answer_out, answer_sentence_out
from knowledge.answering.sentences import sentences_of, shared_words, speaks_to_a_model
from knowledge.answering.service import answer_question, answers_by_model, follow_question, walk_graph
from knowledge.answering.types import Answer, AnswerMode, AnswerSentence, Citation, Question
