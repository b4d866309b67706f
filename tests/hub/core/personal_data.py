"""A corpus of lines with and without personal data and secrets, made from numbers: the same in every run, nobody's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

WIDE = str.maketrans(
    "0123456789-@.()+" + "".join(map(chr, range(65, 91))) + "".join(map(chr, range(97, 123))),
    "０１２３４５６７８９－＠．（）＋"
    + "".join(map(chr, range(0xFF21, 0xFF3B)))
    + "".join(map(chr, range(0xFF41, 0xFF5B))),
)
SURNAMES = ("山田", "佐藤", "鈴木", "小鳥遊", "長宗我部", "Smith", "O'Brien")
GIVEN = ("太郎", "花子", "一", "John", "さくら")
PLACES = (
    "東京都千代田区霞が関{a}-{b}-{c}",
    "大阪府大阪市北区中之島{a}丁目{b}番{c}号",
    "北海道札幌市中央区北三条西{a}丁目{b}",
    "神奈川県横浜市中区日本大通{a}-{b}",
    "京都府京都市上京区下立売通{a}番地",
)
AROUND_JA = (
    "担当は {} です。",
    "連絡先：{}",
    "upload of {} failed",
    "（{}）を登録しました",
    "{}",
    "値={} 行=12",
    '{{"value": "{}"}}',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line, its kind, and what must not be in it once it is masked; "" in a line without anything to mask."""

    kind: str
    text: str
    secret: str = ""


def positives(count: int, seed: int = 19) -> Iterator[Line]:
    """Yield about ``count`` lines that have something to mask, of all kinds by turns."""
    chance = Random(seed)
    makers = (_email, _telephone, _my_number, _address, _account, _card, _token, _url, _password, _field)
    for number in range(count):
        kind, secret, around = makers[number % len(makers)](chance)
        yield Line(kind=kind, text=around.format(secret), secret=secret)


def negatives(count: int, seed: int = 91) -> Iterator[Line]:
    """Yield lines that have nothing to mask."""
    chance = Random(seed)
    n = chance.randrange
    for number in range(count):
        texts = (
            f"document doc_{chance.getrandbits(120):030x} is ready after {n(90)}.{n(999):03d} s",
            f"version {n(9)}.{n(20)}.{n(99)} of {n(2000, 2100)}-{n(1, 13):02d}-{n(1, 29):02d} {n(24):02d}:59",
            f"GET /api/v1/chunks/chk_{chance.getrandbits(96):024x} 200 in {n(900)} ms",
            f"要件 FR-{n(999):03d} から NFR-{n(9999):04d} まで、{n(99)} 件中 {n(99)} 件",
            f"sha256 {chance.getrandbits(256):064x}",
            f"10.{n(256)}.{n(256)}.{n(256)}:{n(1024, 65000)} - {n(100, 600)}",
            f"at {1_700_000_000_000 + chance.getrandbits(36)} ms, pid {n(4_000_000)}, {n(10**9)} bytes",
            f"{n(1, 1000)},{n(1000):03d},{n(1000):03d} 円（税込）、{n(100)}%",
            f"令和{n(1, 9)}年{n(1, 13)}月{n(1, 29)}日 第{n(1, 99)}条第{n(1, 9)}項",
            f"ISO/IEC {n(10000, 30000)}-{n(1, 9)}:{n(2000, 2030)}, JIS X {n(1000, 9999)}, RFC {n(1000, 9999)}",
            f"普通に {n(1000, 9999)} 件を処理し、口座の種類は {n(2, 9)} つ",
            f"ページ {n(1, 999)}-{n(1, 999)}、図 {n(1, 9)}-{n(1, 9)}、表 {n(1, 9)}.{n(1, 9)}",
            f"tokens in {n(9999)}, tokens out {n(9999)}, budget {n(10**6)}",
            f"東京都の{n(1, 23)}区と市町村、神奈川県内の市町村 {n(1, 40)}",
            f"UUID {chance.getrandbits(32):08x}-{n(65536):04x}-4{n(4096):03x}-a000-{chance.getrandbits(48):012x}",
            f"connect to postgresql://db.internal:{n(1024, 9999)}/hub timed out ({n(9)} tries)",
            "氏名、住所、電話番号は個人情報であり、パスワードとともに保存しない",
            f"型番 0{n(100, 999)}A-{n(10, 99)}-{n(1000, 9999)}B、ロット {n(10**6, 10**7)}",
        )
        yield Line(kind="nothing", text=texts[number % len(texts)])


def _either_width(chance: Random, text: str) -> str:
    return text.translate(WIDE) if chance.random() < 0.3 else text


def _around(chance: Random) -> str:
    return chance.choice(AROUND_JA)


def _digits(chance: Random, count: int) -> str:
    return "".join(str(chance.randrange(10)) for _place in range(count))


def _email(chance: Random) -> tuple[str, str, str]:
    local = chance.choice(("taro.yamada", "h_suzuki", "info+hub", "x1")) + _digits(chance, 2)
    host = chance.choice(("example.jp", "mail.example.co.jp", "city.example.lg.jp", "example-office.com"))
    return "e-mail", _either_width(chance, f"{local}@{host}"), _around(chance)


def _telephone(chance: Random) -> tuple[str, str, str]:
    d = chance.randrange
    forms = (
        f"03-{d(1000, 9999)}-{_digits(chance, 4)}",
        f"0{d(11, 99)}-{d(100, 999)}-{_digits(chance, 4)}",
        f"0{d(100, 999)}({d(10, 99)}){_digits(chance, 4)}",
        f"(0{d(3, 7)}){d(1000, 9999)}-{_digits(chance, 4)}",
        f"0{d(7, 10)}0-{_digits(chance, 4)}-{_digits(chance, 4)}",
        f"0{d(7, 10)}0{_digits(chance, 8)}",
        f"0120-{_digits(chance, 3)}-{_digits(chance, 3)}",
        f"+81-90-{_digits(chance, 4)}-{_digits(chance, 4)}",
        f"050 {_digits(chance, 4)} {_digits(chance, 4)}",
    )
    return "telephone", _either_width(chance, chance.choice(forms)), _around(chance)


def my_number(chance: Random) -> str:
    """Make an individual number with the check digit of 平成26年総務省令第85号."""
    body = [chance.randrange(10) for _place in range(11)]
    weights = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]
    rest = sum(digit * weight for digit, weight in zip(body, weights, strict=True)) % 11
    return "".join(map(str, body)) + str(0 if rest <= 1 else 11 - rest)


def _my_number(chance: Random) -> tuple[str, str, str]:
    number = my_number(chance)
    form = chance.choice(("{}{}{}", "{} {} {}", "{}-{}-{}")).format(number[:4], number[4:8], number[8:])
    return "My Number", _either_width(chance, form), _around(chance)


def _address(chance: Random) -> tuple[str, str, str]:
    a, b, c = (chance.randrange(1, 30) for _place in range(3))
    return "postal address", _either_width(chance, chance.choice(PLACES).format(a=a, b=b, c=c)), _around(chance)


def _account(chance: Random) -> tuple[str, str, str]:
    label = chance.choice(("口座番号：", "普通 ", "普通預金 ", "当座 ", "account no. ", "口座番号は "))
    return "bank account", _either_width(chance, _digits(chance, 7)), _around(chance).replace("{}", label + "{}")


def _card(chance: Random) -> tuple[str, str, str]:
    body = chance.choice(("4", "51", "3528", "2221")) + _digits(chance, 14)
    body = body[:15]
    total = sum(int(d) if place % 2 else sum(divmod(2 * int(d), 10)) for place, d in enumerate(body))
    number = body + str(-total % 10)
    parts = (number[at : at + 4] for at in range(0, 16, 4))
    return "card", _either_width(chance, chance.choice(("", " ", "-")).join(parts)), _around(chance)


def _random_text(chance: Random, count: int) -> str:
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789_-"
    return "".join(chance.choice(letters) for _place in range(count)) + "7"


def _token(chance: Random) -> tuple[str, str, str]:
    text = _random_text(chance, 40)
    forms = ("Authorization: Bearer {}", "Bearer {} refused", "hub_{}", "sk-{}", "{{'authorization': 'Bearer {}'}}")
    return "token", text, chance.choice(forms)


def _url(chance: Random) -> tuple[str, str, str]:
    return "password in a URL", _random_text(chance, 12), "can't reach postgresql://hub:{}@db.internal:5432/hub"


def _password(chance: Random) -> tuple[str, str, str]:
    forms = (
        "password={}",
        "パスワード：{}",
        '{{"api_key": "{}"}}',
        "LLM_API_KEY={}",
        "token: {}",
        "?access_token={}&x=1",
    )
    return "password", _random_text(chance, 14), chance.choice(forms)


def _field(chance: Random) -> tuple[str, str, str]:
    name = f"{chance.choice(SURNAMES)}{chance.choice(('', ' ', '　'))}{chance.choice(GIVEN)}{chance.randrange(99)}"
    name = name.replace("'", "")
    return (
        "field",
        name,
        chance.choice(("氏名：{}", "氏名: {}、所属: 品質課", "| 氏名 | {} | 課長 |", "職員名＝{}", "申請者 氏名：{}")),
    )
