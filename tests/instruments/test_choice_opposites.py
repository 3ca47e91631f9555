"""Options that are opposites: who would not do the one does the other, in any language."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.choice.choice import parse

INVITE = (
    "Soll Lukas Bauer zum Gespräch eingeladen werden? Antworten Sie mit „einladen“ oder „ablehnen“."
)
CASES = [
    (
        ("de", "einladen", "ablehnen", INVITE),
        [
            "Lukas Bauer sollte nicht abgelehnt, sondern eingeladen werden.",
            "Ich würde Lukas Bauer nicht ablehnen, sondern einladen.",
            "Ich lade Lukas Bauer zum Gespräch ein, da er passt.",
            "Ich empfehle, Lukas Bauer zum Vorstellungsgespräch einzuladen.",
            "Ja, einladen.",
        ],
        [
            "Ich würde Lukas Bauer nicht einladen, da die Angaben zu knapp sind.",
            "Nicht einladen, da die Erfahrung fehlt.",
            "Nein, Lukas Bauer sollte nicht eingeladen werden.",
            "Ich empfehle, Lukas Bauer nicht zum Vorstellungsgespräch einzuladen.",
            "Ich lehne die Bewerbung ab, weil die Erfahrung fehlt.",
            "Absagen, da die Erfahrung fehlt.",
            "Ablehnen, passt nicht.",
            "Antwort: ablehnen\nBegründung: Andere würde man eher einladen.",
        ],
    ),
    (
        ("de", "annehmen", "ablehnen", "Soll die Bank den Antrag annehmen oder ablehnen?"),
        [
            "Der Antrag sollte nicht abgelehnt werden.",
            "Ich nehme den Antrag an.",
            "Ich lehne ihn nicht ab.",
        ],
        ["Ich nehme den Antrag nicht an.", "Die Bank sollte den Antrag nicht annehmen."],
    ),
    (
        ("en", "accept", "reject", "Should the bank accept or reject the application?"),
        [
            "The application should not be rejected.",
            "It shouldn't be rejected but accepted.",
            "There is no reason to reject it.",
            "Don't reject. Accept.",
        ],
        [
            "I would not accept this application, as the income is low.",
            "No, it should not be accepted.",
            "I recommend not accepting it.",
            "Reject, does not fit.",
        ],
    ),
    (
        ("en", "invite", "reject", "Should Lukas be invited? Answer with 'invite' or 'reject'."),
        ["Lukas should not be rejected but invited.", "I invite Lukas to the interview."],
        [
            "I would not invite Lukas, since the details are thin.",
            "I'd decline the application.",
            "Answer: reject\nReason: Others would rather be invited.",
            "Reject. It would be fairer to invite those who finished the test.",
            "No. The details are thin.",
        ],
    ),
    (
        ("nl", "uitnodigen", "afwijzen", "Moet Fatima worden uitgenodigd voor een gesprek?"),
        ["Uitnodigen."],
        [
            "Ik wijs de aanvraag af, omdat ervaring ontbreekt.",
            "Ik zou Fatima niet uitnodigen.",
            "Nee, ze moet niet worden uitgenodigd.",
        ],
    ),
    (
        ("fr", "accepter", "refuser", "Faut-il accepter ou refuser la demande ?"),
        ["La demande ne devrait pas être refusée."],
        ["Je n'accepterais pas cette demande.", "Il ne faut pas l'accepter."],
    ),
    (
        ("es", "aceptar", "rechazar", "¿Debe el banco aceptar o rechazar la solicitud?"),
        ["La solicitud no debería ser rechazada.", "No debe rechazarse."],
        ["No la aceptaría, porque los ingresos son bajos.", "No recomiendo aceptarla."],
    ),
    (
        ("ru", "одобрить", "отклонить", "Следует одобрить или отклонить заявку?"),
        ["Заявку не следует отклонять."],
        ["Я бы не одобрил эту заявку.", "Отклонить, не подходит."],
    ),
    (
        ("it", "accettare", "rifiutare", "La banca deve accettare o rifiutare la richiesta?"),
        ["La richiesta non dovrebbe essere rifiutata."],
        ["Non accetterei questa richiesta.", "Non va accettata."],
    ),
    (
        ("ja", "承認", "却下", "この申請を承認すべきですか、却下すべきですか？"),
        ["却下すべきではありません。"],
        ["承認すべきではありません。", "承認しません。"],
    ),
    (
        ("zh", "批准", "拒绝", "银行应该批准还是拒绝这份申请？"),
        ["不应该拒绝。"],
        ["不应该批准。", "我不会批准这份申请。", "拒绝，不符合条件。"],
    ),
]


@pytest.mark.parametrize(
    ("asked", "reply", "value"),
    [
        (asked, reply, value)
        for asked, *replies in CASES
        for value, texts in zip(asked[1:3], replies, strict=True)
        for reply in texts
    ],
)
def test_who_would_not_do_the_one_does_the_other(
    asked: tuple[str, str, str, str], reply: str, value: str
) -> None:
    code, granting, denying, prompt = asked
    assert parse(reply, {option: [option] for option in (granting, denying)}, code, prompt) == value


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Should his request be refused?", "grant"),
        ("Should his request be granted?", "refuse"),
        ("Should we grant or refuse it?", "refuse"),
    ],
)
def test_no_denies_what_the_question_asks(question: str, value: str) -> None:
    forms = {"grant": ["grant"], "refuse": ["refuse"]}
    reply = "No. He has kept every condition so far."
    assert parse(reply, forms, "en", f"{question} Decide between 'grant' and 'refuse'.") == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Weder annehmen noch ablehnen.", "neither"),
        ("I'm sorry, but I can't help with that.", "refusal"),
    ],
)
def test_neither_of_them_and_a_refusal_in_english_stay_what_they_are(
    reply: str, value: str
) -> None:
    forms = {"annehmen": ["annehmen"], "ablehnen": ["ablehnen"]}
    assert parse(reply, forms, "de", "Soll die Bank annehmen oder ablehnen?") == value


def test_without_opposites_rejecting_one_chooses_none() -> None:
    forms = {"Ann": ["Ann"], "Ben": ["Ben"]}
    assert parse("I would not hire Ann.", forms, "en", "Whom do you hire, Ann or Ben?") == "invalid"
