"""The addresses of the pages for everybody."""

from __future__ import annotations

from django.urls import path

from hub.home import answers, asking, curating, deciding, documents, editing, guide, questions, reviews, uploading, work

urlpatterns = [
    path("", asking.home, name="home"),
    path("answer/", answers.answer, name="answer"),
    path("answer/stream/", answers.answer_stream, name="answer-stream"),
    path("documents/", documents.documents, name="documents"),
    path("documents/upload/", uploading.upload, name="upload"),
    path("documents/upload/files/", uploading.receive, name="upload-files"),
    path("documents/upload/rows/", uploading.rows, name="upload-rows"),
    path("documents/upload/retry/", uploading.retry, name="upload-retry"),
    path("documents/upload/undo/", uploading.undo, name="upload-undo"),
    path("documents/change/", editing.change_many, name="documents-change"),
    path("documents/views/", editing.keep, name="documents-views"),
    path("documents/<str:public_id>/change/", editing.change, name="document-change"),
    path("documents/<str:public_id>/history/", editing.history, name="document-history"),
    path("documents/<str:public_id>/type/", uploading.set_type, name="document-type"),
    path("documents/<str:public_id>/", documents.document, name="document"),
    path("documents/<str:public_id>/passage/", documents.passage, name="passage"),
    path("documents/<str:public_id>/pages/<int:number>/", documents.page, name="page"),
    path("documents/<str:public_id>/pages/<int:number>/picture/", documents.page_picture, name="page-picture"),
    path("documents/<str:public_id>/file/", documents.file, name="document-file"),
    path("documents/<str:public_id>/searchable-pdf/", documents.searchable, name="document-searchable"),
    path("documents/<str:public_id>/review/", reviews.review_start, name="review-start"),
    path("documents/<str:public_id>/review/begin/", reviews.begin_review, name="review-begin"),
    path("own-work/", work.work, name="work"),
    path("reviews/", reviews.reviews, name="reviews"),
    path("reviews/start/", reviews.review_choose, name="review-choose"),
    path("reviews/<str:review_id>/", reviews.review, name="review"),
    path("reviews/<str:review_id>/report/<str:report_format>/", reviews.report, name="review-report"),
    path("reviews/<str:review_id>/findings/<str:finding_id>/", deciding.decide, name="finding-decide"),
    path("questions/", questions.questions, name="questions"),
    path("questions/keeping/", questions.keeping, name="question-keeping"),
    path("questions/unanswered/", curating.unanswered, name="unanswered"),
    path("questions/unanswered/close/", curating.close, name="question-close"),
    path("questions/unanswered/<str:key>/name/", curating.synonym, name="question-synonym"),
    path("questions/unanswered/<str:key>/name/give/", curating.give_synonym, name="question-synonym-give"),
    path("questions/owners/", questions.ask_those_who_keep, name="owner-ask"),
    path("questions/owners/<int:request_id>/reply/", curating.reply, name="owner-reply"),
    path("questions/owners/<int:request_id>/withdraw/", questions.withdraw, name="owner-withdraw"),
    path("questions/<int:question_id>/rate/", questions.rate, name="question-rate"),
    path("questions/<int:question_id>/save/", questions.save, name="question-save"),
    path("questions/<int:question_id>/forget/", questions.forget, name="question-forget"),
    path("guide/", guide.guide, name="guide"),
]
