"""Variants of one character: 髙 and 高, 邊 and 辺, 葛 with a variation selector, and characters without width.

Names and older documents write a word with other shapes of its characters than those who look for it.
Source: 常用漢字表 (平成22年内閣告示第2号), the forms in parentheses; and the most common shapes of names that the
文字情報基盤 and the 戸籍統一文字 relate to a character of JIS X 0208.
"""

from __future__ import annotations

import re

INVISIBLE = "\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""Soft hyphen, zero-width and bidirectional controls, word joiners, byte order marks: the inside of a class."""
NO_WIDTH = f"{INVISIBLE}\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""What is invisible, and variation selectors: the inside of a class."""
WITHOUT_WIDTH = re.compile(f"[\0{NO_WIDTH}]+")
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


def _shapes() -> dict[int, str]:
    """Map each other shape to the common one; shapes that NFKC makes one already stand there for themselves."""
    return {ord(other): shape[0] for shape in _SHAPES.split() for other in shape[1:] if other != shape[0]}


VARIANTS = _shapes()
_ANY_VARIANT = re.compile(f"[{''.join(map(chr, VARIANTS))}]")


def one_variant(text: str) -> str:
    """Write each character of a text in its common shape; as long as before.

    >>> one_variant("髙橋、渡邊、國分")
    '高橋、渡辺、国分'
    """
    return text.translate(VARIANTS) if _ANY_VARIANT.search(text) else text
