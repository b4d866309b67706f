"""The forms in which texts are compared; each says what it makes one, what it drops and what it keeps.

| function        | width and compatible forms  | case   | white space      | dashes | variants (髙) | offsets |
|-----------------|-----------------------------|--------|------------------|--------|---------------|---------|
| `narrow`        | of ASCII alone              | stays  | width alone      | one    | stay          | hold    |
| `fold_each`     | where one character is one  | folded | width alone      | stay   | stay          | hold    |
| `normalise`     | NFKC                        | stays  | width alone      | stay   | stay          | move    |
| `fold_case`     | NFKC                        | folded | width alone      | stay   | stay          | move    |
| `fold_compact`  | NFKC                        | folded | dropped          | stay   | stay          | move    |
| `fold_name`     | NFKC                        | folded | single, none outer | one  | stay          | move    |
| `fold_terms`    | NFKC, nothing without width | folded | width alone      | one between letters | one | move   |

Pure. What the database folds, it folds in SQL: `knowledge.search.phrase_sql`. Variants (髙 and 高, 邊 and 辺): names
and older documents write a word with other shapes of its characters than who looks for it does. Source: 常用漢字表
(平成22年内閣告示第2号), the forms in parentheses; and the most common shapes of names that the 文字情報基盤 and the
戸籍統一文字 relate to a character of JIS X 0208.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

INVISIBLE = "\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""Soft hyphen, zero-width and bidirectional controls, word joiners, byte order marks: the inside of a class."""
NO_WIDTH = f"{INVISIBLE}\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""What is invisible, and variation selectors: the inside of a class."""
WITHOUT_WIDTH = re.compile(f"[\0{NO_WIDTH}]+")
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# The common shape, and behind it the others.
_SHAPES = """
亜亞 悪惡 圧壓 囲圍 医醫 為爲 壱壹 隠隱 栄榮 営營 衛衞 駅驛 円圓 塩鹽 縁緣 艶艷 応應 欧歐 殴毆
桜櫻 奥奧 横橫 温溫 穏穩 仮假 価價 画畫 会會 回囘 壊壞 懐懷 絵繪 拡擴 殻殼 覚覺 学學 岳嶽 楽樂
渇渴 掛挂 缶罐 巻卷 陥陷 勧勸 寛寬 関關 歓歡 観觀 帰歸 気氣 亀龜 偽僞 戯戲 犠犧 旧舊 拠據 挙擧
虚虛 峡峽 挟挾 狭狹 郷鄕 暁曉 区區 駆驅 勲勳 薫薰 径徑 茎莖 恵惠 渓溪 経經 継繼 蛍螢 軽輕 鶏鷄
芸藝 撃擊 欠缺 倹儉 剣劍劔劒 圏圈 検檢 権權 献獻 県縣 険險 顕顯 験驗 厳嚴 広廣 効效 恒恆 黄黃 鉱鑛
号號 国國 黒黑 砕碎 済濟 斎齋 斉齊 剤劑 桟棧 雑雜 参參 惨慘 蚕蠶 賛贊 残殘 糸絲 歯齒 児兒 辞辭
湿濕 実實 写寫 釈釋 寿壽 収收 従從 渋澁澀 獣獸 縦縱 粛肅 処處 緒緖 叙敍敘 将將 称稱 焼燒 証證
奨奬獎 条條 状狀 乗乘 浄淨 剰剩 畳疊 縄繩 壌壤 嬢孃 譲讓 醸釀 触觸 嘱囑 真眞 慎愼 寝寢 尽盡 図圖
粋粹 酔醉 穂穗 随隨 髄髓 枢樞 数數 瀬瀨 声聲 青靑 静靜 清淸 税稅 摂攝 窃竊 専專 浅淺 戦戰 践踐
銭錢 潜潛 繊纖 禅禪 双雙 壮壯 争爭 荘莊 捜搜 挿插揷 巣巢 曽曾 総總 聡聰 騒騷 増增 蔵藏 臓臟 属屬
続續 堕墮 対對 体體軆 帯帶 滞滯 台臺 滝瀧 択擇 沢澤 担擔 単單 胆膽 団團 弾彈 断斷 痴癡 遅遲 昼晝
虫蟲 鋳鑄 庁廳 徴徵 聴聽 鎮鎭 逓遞 鉄鐵 転轉 点點 伝傳 灯燈 当當 党黨 盗盜 稲稻 闘鬪 徳德 独獨
読讀 届屆 弐貳 悩惱 脳腦 覇霸 拝拜 廃廢 売賣 麦麥 発發 髪髮 抜拔 浜濱濵 蛮蠻 秘祕 仏佛 払拂 並竝
餅餠 辺邊邉 変變 弁辨瓣辯 歩步 宝寶寳 豊豐 褒襃 翻飜 毎每 万萬 満滿 麺麵 訳譯 薬藥 予豫 余餘 与與
誉譽 揺搖 様樣 謡謠 遥遙 瑶瑤 来來 頼賴 覧覽 竜龍 両兩 猟獵 緑綠 塁壘 涙淚 励勵 礼禮 霊靈 隷隸
齢齡 恋戀 炉爐 労勞 楼樓 録錄 湾灣 填塡 剥剝 頬頰 叱𠮟 繋繫 掴摑 噛嚙 嘘噓 痩瘦 掻搔 顛顚 莱萊
祷禱 薮藪 蝉蟬 蝋蠟 侠俠 桧檜 槙槇 尭堯 晋晉 亘亙 弥彌 祢禰 巌巖 高髙 崎﨑嵜 吉𠮷 島嶋嶌 富冨 峰峯
館舘 柳栁 桑桒 渕淵 涼凉 煕熙 晃晄 船舩 昇曻 土圡 杉杦 角⻆
"""


# Each other shape by the common one; shapes that NFKC makes one already are there for themselves.
VARIANTS = {ord(other): shape[0] for shape in _SHAPES.split() for other in shape[1:] if other != shape[0]}
_ANY_VARIANT = re.compile(f"[{''.join(map(chr, VARIANTS))}]")


def one_line(text: str) -> str:
    """Write a name that people give in one line, without what nobody sees; "" when nothing is left.

    >>> one_line(" 設計書\u202efdp.exe\n第２版　案 ")
    '設計書fdp.exe 第２版　案'
    """
    return _CONTROL.sub(" ", _UNSEEN.sub("", text)).strip()


def one_variant(text: str) -> str:
    """Write each character of a text in its common shape; as long as before.

    >>> one_variant("髙橋、渡邊、國分")
    '高橋、渡辺、国分'
    """
    return text.translate(VARIANTS) if _ANY_VARIANT.search(text) else text


HYPHENS = "‐‑‒–−－"
"""Characters that are written for a hyphen; ー is none, and — and ― part sentences."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SEGMENT_LENGTH = 1024
# ASCII, kana and ideographs never compose with the character before them, so NFKC may stop there.
_SEGMENT = re.compile(
    rf"(?s:.{{1,{_SEGMENT_LENGTH}}}(?=[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]|\Z)"
    rf"|.{{1,{_SEGMENT_LENGTH}}})"
)
_TO_HYPHEN = str.maketrans(dict.fromkeys(HYPHENS, "-"))
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20} | _TO_HYPHEN
_DASH_IN_CODE = re.compile(r"(?<=[a-z0-9])[\u2010-\u2015\u2212\u30fc](?=[a-z0-9])")
# Japanese text has a few thousand different characters; a hostile one must not fill the memory.
_MOST_REMEMBERED = 16_384


@lru_cache(maxsize=8)
def narrow(text: str) -> str:
    """Return ``text`` with full-width ASCII, hyphens and blanks made half-width, one for one, so that offsets hold.

    >>> narrow("図１－２　構成")
    '図1-2 構成'
    """
    return text.translate(_NARROW)


@lru_cache(maxsize=8)
def fold_each(text: str) -> str:
    """Fold width and case of each character that one character folds to, so that offsets hold.

    >>> fold_each("ＦＲ－００１の㋿ｶﾞ")
    'fr-001の㋿カ゛'
    """
    return text.translate(_EACH)


def normalise(text: str) -> str:
    """Replace lone surrogates by U+FFFD and apply NFKC, so that ｶﾞ and ガ become the same.

    Works in segments: Python's NFKC needs quadratic time for a long run of combining marks (11 s for
    100,000). Equal to NFKC of the whole unless 1,024 characters follow each other without any ASCII, kana or
    ideograph among them.
    """
    if text.isascii():
        return text
    text = LONE_SURROGATE.sub("\ufffd", text)
    if len(text) <= _SEGMENT_LENGTH:
        return unicodedata.normalize("NFKC", text)
    return "".join(unicodedata.normalize("NFKC", segment) for segment in _SEGMENT.findall(text))


def fold_case(text: str) -> str:
    """Fold width and case, and keep white space.

    >>> fold_case("ＳＱＬ サーバー")
    'sql サーバー'
    """
    return normalise(text).casefold()


def fold_compact(text: str) -> str:
    """Fold width and case, and drop all white space.

    >>> fold_compact("ＳＱＬ サーバー")
    'sqlサーバー'
    """
    return "".join(fold_case(text).split())


def fold_name(name: str) -> str:
    """Fold width and case, make hyphens one and white space single. 長音 stays as written.

    >>> fold_name(" ＦＲ–００１　 案"), fold_name("サーバー"), fold_name("サーバ")
    ('fr-001 案', 'サーバー', 'サーバ')
    """
    return " ".join(normalise(name).translate(_TO_HYPHEN).split()).casefold()


def fold_terms(text: str) -> str:
    """Bring text to the one form in which the terms of search are compared.

    NFKC, case folded, variants of a character as one (髙橋), nothing without width, one kind of dash in codes.

    >>> fold_terms("ＧＬ‐３．２ Straße"), fold_terms("髙\ufe00橋の補塡")
    ('gl-3.2 strasse', '高橋の補填')
    """
    return join_codes(one_variant(fold_case(WITHOUT_WIDTH.sub("", text))))


def join_codes(folded: str) -> str:
    """Write one kind of dash between letters and digits; offsets stay."""
    return _DASH_IN_CODE.sub("-", folded)


class _Each(dict[int, str]):
    """What each code point is folded to, found out when it is first met."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        folded = unicodedata.normalize("NFKC", character).casefold()
        found = folded if len(folded) == 1 else character
        if len(self) < _MOST_REMEMBERED:
            self[code_point] = found
        return found


_EACH = _Each()
