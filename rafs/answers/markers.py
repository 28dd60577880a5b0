"""What marks an answer as one, in several languages; and what only looks like a mark."""

import re

from rafs.grammar.gated_patterns import GatedPattern

BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,3}")
BETWEEN_BOXES = re.compile(
    r"[\s$,;.]{0,12}(?:\\[()]|\\text\{\s*(?:and|or)\s*\}|and|or|\\quad|\\,)?[\s$,;]{0,8}(?:\\[()])?[\s$]{0,4}"
    r"(?:[A-Za-z](?:_\{?\w\}?)?\s?=[\s$]{0,3})?"
)
BOX_GAP = 30
"""Two boxes further apart than this are two statements, not the parts of one answer."""
HASH = GatedPattern(r"(?:^|(?<=[\s>]))####(?!#)[ \t]{0,20}", ["####"], lead=0, flags=re.MULTILINE)
HASH_HEADING = re.compile(r"(?:step|part|case|\d{1,2}[.)]\s+[A-Z])", re.IGNORECASE)
_LABELS = (
    "ans antwo réponse respuesta risposta resposta ответ відповідь odpowiedź odpověď svar cevap yanıt yanit vastaus "
    "válasz răspuns 답 答 الجواب الإجابة उत्तर תשובה solution".split()
)
_PHRASES = (
    "answer choice option antwort lösung ergebnis réponse respuesta risposta resposta "
    "resultado risultato résultat 答 답"
).split()
LABEL = GatedPattern(
    r"(?<![\w'])(?<!\w-)(?P<label>(?:(?:final|correct|my|the|our)\s{1,3}){0,3}(?:answer|ans)(?:\(s\)|s)?"
    r"|(?:endg\w{1,10}\s{1,3})?antwort|réponse(?:\s{1,3}finale)?|respuesta(?:\s{1,3}final)?|risposta(?:\s{1,3}finale)?"
    r"|resposta(?:\s{1,3}final)?|ответ|відповідь|odpowiedź|odpověď|antwoord|svar|cevap|yanıt|vastaus|válasz|răspuns"
    r"|정답|답|答え|解答|الجواب|الإجابة|उत्तर|תשובה"
    r"|solution(?=:\s?(?:choice|option)\b|:\s?(?:choice|option)_)|(?:最终)?答案)(?:\s?[*_]{1,3})?\s?(?:[:：](?!:)|=(?!=))",
    _LABELS,
    lead=40,
    reach=60,
    core=r"(?i:(?:answer|ans)(?:\(s\)|s)?(?:\s?[*_]{1,3})?\s?[:：=]|solution:|antwo|respuesta|risposta|resposta|svar|cevap"
    r"|yanit|vastaus)|[^\x00-\x7f]",
)
HEADED = GatedPattern(
    r"^[\s#*_>-]{0,12}(?:the\s|my\s)?(?:(?:final|correct|right|best)\s)?answer[*_]{0,3}"
    r"(?:\s{1,2}[-–—]\s|[ \t]{0,8}[*_]{0,3}[ \t]{0,8}(?=[\r\n]))",
    ["answer"],
    lead=24,
    reach=40,
    flags=re.IGNORECASE | re.MULTILINE,
)
ROW = GatedPattern(r"^\|\s{0,8}\**(?:final\s)?answer\**\s{0,8}\|", ["|"], lead=0, flags=re.IGNORECASE | re.MULTILINE)
SHORT_LABEL = GatedPattern(
    r"^[ \t]{0,8}[*_]{0,3}A[*_]{0,3}:[*_]{0,3}[ \t]{0,8}(?=[^\r\n]{1,60}\s{0,20}\Z)",
    ["a:", "a*", "a_"],
    lead=11,
    flags=re.MULTILINE,
)
_TO_THE_QUESTION = r"(?:\s{1,3}to\s(?:the|this)\s(?:whole\s|original\s)?(?:question|problem))?"
PHRASE = GatedPattern(
    rf"(?<![\w'])(?<!\w-)(?:(?:answer|(?:correct|right|best)\s(?:choice|option)s?)[*_]{{0,3}}{_TO_THE_QUESTION}\s{{1,3}}(?:"
    r"(?:is\snot|isn['’]t|is\sneither|cannot\sbe|can['’]t\sbe|was\snot)\s[^.!?\n;]{1,60}?"
    r"(?:,?\s?\bbut(?:\srather)?|[.;,:]\s{1,2}(?:(?:rather|instead|so|hence|thus),?\s)?(?:it|the\sanswer)"
    r"(?:\sis|\smust\sbe|['’]s))"
    r"|(?:is|are|would\sbe|will\sbe|must\sbe|should\sbe|equals|comes\s(?:out\s)?to)(?!n['’]t|\w))"
    r"|(?P<foreign>(?:antwort\s(?:ist|lautet)|(?:lösung|ergebnis)\s(?:ist|lautet)|réponse(?:\sfinale)?\sest(?:\sdonc)?"
    r"|respuesta(?:\sfinal|\scorrecta)?\ses|risposta(?:\sfinale|\scorretta)?\sè|resposta(?:\sfinal|\scorreta)?\sé"
    r"|resultado\s(?:es|é)|risultato\sè|résultat\sest)\b:?)"
    r"|答案是|答案为|答案為|答えは|정답은|답은)",
    _PHRASES,
    lead=20,
    reach=200,
)
CORRECTION = re.compile(
    r"(?:\b(?:correction|edit|oops|sorry|(?:hmm,?\s)?I\smean|(?:actually,?\s)?no)(?:[:,]\s|(?<=mean)\s)(?=[-−$]{0,2}\d[\d.,/]{0,20}"
    r"(?:\s[a-z]{1,15}){0,2}[.!]?\s{0,4}(?:\n|\Z))|(?:\b(?:wait|actually|correction|mistake|oops|wrong|incorrect)\b|\bno\b[,.])[^\n]{0,80}?\b(?:it|this|that)"
    r"(?:\s(?:should|must)\s(?:have\s)?be(?:en)?|\sis|['’]s)(?=\s(?:actually\s|really\s)?[-−$\\\d(]))",
    re.IGNORECASE,
)
"""Takes an answer back; only counts where one was stated before."""
RETRACTION = re.compile(
    r"\b(?:wait|oops|hold\son)\b[^\n]{0,40}\b(?:error|mistake|wrong|miscalculated|misread)\b"
    r"|\bI\s(?:made\s(?:an?\s)?(?:error|mistake)|miscalculated)\b",
    re.IGNORECASE,
)
"""Takes back what was stated before it, without another value."""
SUPPOSED = re.compile(
    r"(?:\b(?:if|suppose|supposing|assume|whether|imagine)(?:\sthat)?"
    r"|\b(?:might|could|mistake|error|tempting|some|many|first|initially|originally)\b[^.!?\n,;:]{0,30}"
    r"\b(?:say|think|thought|believe|claim|conclude|guess))(?:\sthat)?\s(?:the\s|my\s|our\s)?(?:(?:final|correct)\s)?\Z",
    re.IGNORECASE,
)
"""Right before a mark: what it states is only supposed, or somebody's mistake."""
REMARK = re.compile(
    r"[\s#*_>-]{0,12}(?:(?:(?:sanity|quick|double)[\s-])?check(?:ing)?\b|(?:to|let['’]s|we\scan)\s(?:double-?\s?)?(?:check|verify)"
    r"|verif(?:y|ying|ication)\b|(?:substituting|plugging)\s(?:\w+\s)?back\b|confidence\b|note\b"
    r"|this\s(?:makes\ssense|is\s(?:reasonable|plausible)|checks\sout|agrees|matches)\b)",
    re.IGNORECASE,
)
"""Opens a sentence that checks or comments on an answer given before."""
PICKED = GatedPattern(
    r"\b(?:choose|chose|pick|picked|select|selected|going?\swith|opt\sfor|(?:I['’]d|would)\ssay)\s(?:answer\s)?"
    r"(?:option\s|choice\s)?[*(]{0,3}(?P<a>[A-J])[*)]{0,3}"
    r"(?=[\s.,;:!)*]|$)(?!\s(?:[a-z]{2,}\s(?!A\b)|random))"
    r"|\b(?:pick|choice|selection|option)(?:\s(?:is|would\sbe|must\sbe|should\sbe)|:)\s(?:option\s|choice\s)?"
    r"[*(]{0,3}(?P<b>[A-J])[*)]{0,3}(?=[\s.,;:!)*]|$)"
    r"|(?<![\w(*])(?<!not\s)(?:[Cc]hoice_|[Oo]ption_)?[*(]{0,3}(?P<c>[A-J])[*)]{0,3}\s(?:is|must\sbe|seems)\s"
    r"(?:clearly\s|therefore\s)?(?:(?:the\s(?:only\s)?)?(?:correct|right|best)(?:\s(?:answer|option|choice))?"
    r"|the\s(?:answer|solution))(?=[\s.,;:!*]|$)"
    r"|\b(?:[Ss]olution|[Cc]hoice|[Oo]ption|[Aa]nswer)(?:\s[^\s.!?]{1,12}){0,8}?\s(?:is|must\sbe)\s(?:therefore\s|thus\s"
    r"|clearly\s|then\s)?(?:[Cc]hoice|[Oo]ption)[_\s][*(]{0,3}(?P<d>[A-J])[*)]{0,3}(?=[\s.,;:!*]|$)(?!\s?(?:and|or)\s)",
    "solution choose chose pick select goin opt say choice selection option correct right best answer".split(),
    lead=40,
    reach=160,
    core=r"[A-J](?<![^\W_].)(?=[\s.,;:!)*]|\Z)",
    flags=re.NOFLAG,
)
"""An option that is chosen in so many words: `I choose B`, `option C is correct`."""
FOREIGN_CHOICE = GatedPattern(
    r"(?:(?:答案|选项|選項|正解|答え|答|정답)\s?(?:是|为|為|は|은|应为|[:：])|(?:故|应|應|本题|本題|题|因此|所以)\s?(?:选择?|選擇?)"
    r"|(?<!\w)(?:alternativa|opção|opción|réponse|option|opzione)\s(?:correcta|correta|correcte|corretta|certa)\s(?:es|é|est|è)"
    r"|правильный\s(?:ответ|вариант)\s?(?:[-–—:]|это)|(?:đáp\sán)(?:\sđúng)?\slà|الإجابة(?:\sالصحيحة)?\s(?:هي|هو)"
    r"|सही\sउत्तर(?:\sहै)?|jawaban(?:nya)?(?:\syang\sbenar)?\sadalah)\s?(?:选项|選項|(?:la|a)\s(?:opción|alternativa)\s)?"
    r"[(（*]{0,3}(?<![A-Za-z])(?P<a>(?-i:[A-J]))(?![A-Za-z\d])(?!\s?[-+*/=^])",
    "选 選 正解 答 정답 alternativa opç opci réponse option opzione ответ вариант đáp الإجابة उत्तर jawaban".split(),
    lead=20,
    reach=80,
    core=r"[A-J](?<![A-Za-z].)",
)
"""An option that is chosen in another language."""
JSON = re.compile(
    r"[\"'](?:final[ _]?)?(?:answer|ans|result)[\"']\s{0,3}:\s{0,3}"
    r"(?:\"(?P<text>(?:[^\"\\\n]|\\.){1,300})\"|(?P<bare>-?\d[\d.eE+-]{0,40}|\[[^\[\]\n]{1,100}\]|true|false))",
    re.IGNORECASE,
)
TAGGED = re.compile(r"<\s?(?:final_?)?answer\s?>(?P<text>[^<>]{1,300})(?=<\s?/)", re.IGNORECASE)
FOREIGN = re.compile(
    r"antwort|réponse|respuesta|risposta|resposta|ответ|lösung|ergebnis|antwoord|odpowie|odpov|svar|resultado|risultato"
    r"|résultat|vastaus|válasz|răspuns|відповідь|cevap|yanıt",
    re.IGNORECASE,
)
QUOTED = re.compile(r"[\"“‘]\s?(?:the\s|my\s|final\s){0,2}\Z|(?<=\s)'\s?(?:the\s|my\s|final\s){0,2}\Z", re.IGNORECASE)
"""An opening quotation mark right before a mark: somebody else's words."""
COMMENT = re.compile(r"<!--(?:(?!-->).)*(?:-->|\Z)", re.DOTALL)
"""What no reader of the rendered text sees."""
CONCLUSION_WORDS = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|in total|altogether|in conclusion|finally|accordingly|as a result"
    r"|also|donc|por lo tanto|daher)\b|因此|所以",
    re.IGNORECASE,
)
"""Words that announce a closing conclusion; `also` is the German word."""
NO_SOLUTION = re.compile(
    r"\b(?:(?:has|have|is|are)\s(?P<a>no\s(?:real\s|integer\s|such\s|valid\s|possible\s){0,2}(?:solutions?|roots?|numbers?|values?))"
    r"|(?P<b>does\snot\sexist))\b",
    re.IGNORECASE,
)
"""A sentence that comes to nothing."""
