/**
 * Words that say nothing about a memory: articles, pronouns, prepositions, auxiliaries and words that
 * ask; as they are after `folded`. English ones are in words.ts. They also tell the language of a
 * text, so each list holds the commonest words of its language, and no word that people note.
 */
export const STOP_WORDS_OF = {
  de:
    "ab aber alle allem allen aller alles als also am an auch auf aus bei beim bekomme bekommt bin " +
    "bis bist da dabei dafur damit dann daran darauf darf darfst das dass daruber dazu dein deine " +
    "deinem deinen deiner dem den denn der des deshalb dessen dich die dies diese diesem diesen " +
    "dieser dieses dir doch dort du durch durfen ein eine einem einen einer eines er es etwas euch " +
    "euer eure fur furs gar geht gehe gehen gerade gern gerne gibt hab habe haben hat hatte hatten " +
    "ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden jeder jedes " +
    "jetzt kann kannst kein keine keinem keinen keiner konnen lasse lassen man mehr mein meine meinem " +
    "meinen meiner meines mich mir mit mochte muss mussen nach nicht noch nur ob oder ohne schon " +
    "sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sollte sonst uber um und " +
    "uns unser unsere unserem unseren unserer unter vom von vor wann war waren warum was weil welche " +
    "welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieviel " +
    "viel viele will wir wird wo wobei wofur wogegen woher wohin womit woran worauf woruber wovor " +
    "wozu wurde wurden zu zum zur zwischen",
  nl:
    "aan al alle als altijd andere ben bij dan dat de den der deze die dit doe doen door dus een en " +
    "er ga gaan geen had hadden heb hebben heeft hem het hier hij hoe hoeveel hun ik in is ja je " +
    "jij jou jouw jullie kan kon kunnen maar me meer met mij mijn moet moeten mag na naar niet nog nu " +
    "of om omdat onder ons onze ook op over te tegen toch toen tot u uit uw van veel voor waar " +
    "waarmee waarom waarvan wanneer want waren was wat we weer wel welk welke werd wie wij wil worden " +
    "wordt zal ze zich zij zijn zo zonder zou",
  sv:
    "alla allt att av blev bli blir da de dem den denna deras dess dessa det detta dig din dina ditt " +
    "du efter ej eller en er ett for fran ha hade han hans har hennes hon honom hur i icke in inte " +
    "jag kan kunde man med mellan men mig min mina mitt mot mycket nar nagon nagot nu och om oss pa " +
    "sa sig sin sina sitt ska skulle som till under upp ut vad var vara varfor varje vars vart vem " +
    "vi vid vilka vilken vilket vill ar at over",
  da:
    "ad af alle alt at blev bliver da de dem den denne der deres det dette dig din dine disse dit dog " +
    "du efter eller en end er et for fordi fra ham han hans har havde hende hendes her hos hun hvad " +
    "hver hvilke hvilken hvilket hvis hvem hvor hvordan hvorfor hvornar i ikke ind jeg jer jeres kan " +
    "kunne man mange med meget men mig min mine mit mod nar ned noget nogle nu og ogsa om op os over " +
    "pa sa selv sig sin sine sit skal skulle som til ud under var vi vil ville vor",
  no:
    "alle at av ble blir da de deg dem den denne der deres det dette di din dine disse ditt du eller " +
    "en er et etter for fordi fra ha hadde han hans har henne hennes her hos hun hva hver hvem " +
    "hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke jeg kan kunne man med meg mellom men " +
    "mer min mine mitt mot nar ned noe noen na og ogsa om opp oss over pa sa seg selv sin sine sitt " +
    "skal skulle som til ut under var ved vi vil ville var",
  es:
    "a al algo algun alguna algunas algunos ante antes aquel aquella asi aun aunque cada como con " +
    "cual cuales cuando cuanta cuantas cuanto cuantos cuya cuyo de debe deberia debo del desde donde " +
    "dos durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba " +
    "estamos estan estas este esto estos estoy fue fueron fui ha hace hacemos hacen haces hacia hacer " +
    "hago han hasta hay haya he hemos la las le les lo los mas me mi mia mio mis mucho muy nada ni " +
    "no nos nosotros nuestra nuestras nuestro nuestros o os otra otro para pero poco podemos podria " +
    "por porque puede pueden puedo pues que quien quienes quiere quiero se sea segun ser si sido " +
    "siempre sin sobre solo somos son soy su sus tal tambien tan tanto te tenemos tener tengo tiene " +
    "tienen todo todos tu tus un una uno unos va vamos van voy y ya yo adonde",
  fr:
    "a ai aie ainsi alors apres as au aucun aussi autre aux avais avait avant avec avez avoir avons " +
    "beaucoup c ca car ce cela celle celui ces cet cette ceux chaque chez combien comme comment d " +
    "dans de depuis des deux dois doit donc dont du elle elles en encore entre es est et etait etaient " +
    "ete etes etre eu eux faire fais fait faut font ici il ils j je jusqu jusque l la laquelle le " +
    "lequel les lesquels leur leurs lorsque lui m ma mais me meme mes moi moins mon n ne ni nos notre " +
    "nous on ont ou par parce pas pendant peu peut peuvent peux plus pour pourquoi puis puisque qu " +
    "quand que quel quelle quelles quels qui quoi rien s sa sans se sera ses si soi son sont sous " +
    "suis sur t ta te tes toi ton toujours tous tout toute tres tu un une va vais vers veut veux vont " +
    "vos votre vous y",
  pt:
    "a ai ainda alem algum alguma ante antes ao aos apos aquela aquele aquilo as assim ate cada com " +
    "como contra costumo da das de dela dele deles depois desde deve devo do dos e ela elas ele eles em " +
    "entre era eram essa essas esse esses esta estamos estao estar estas estava este estes estou eu " +
    "faco fazer faz fez foi foram for ha isso isto ja la lhe lhes lo mais mas me mesmo meu meus minha " +
    "minhas muito na nao nas nem nenhum no nos nossa nossas nosso nossos num numa o onde os ou para " +
    "pela pelas pelo pelos perante pode podem podemos pois por porque posso pra qual quais quando " +
    "quanta quantas quanto quantos que quem quer quero se seja sem sempre ser sera seu seus si sido " +
    "sob sobre so somos sou sua suas tal tambem tanto te tem temos tenho ter teu tua tudo um uma umas " +
    "uns vai vamos vao voce voces vos vou",
  it:
    "a abbiamo ad agli ai al alla alle allo anche ancora avere aveva c che chi ci co coi col come con " +
    "contro cosa cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello devo di " +
    "dopo dove e ed era erano essere fa faccio fare fino fra gli ha hai hanno ho i il in io l la le " +
    "lei li lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello noi " +
    "non nostra nostri nostro o ogni per perche piu poi posso prima puo qual quale quali quando quanta " +
    "quante quanti quanto quella quelle quelli quello questa queste questi questo qui s sara se sei " +
    "sempre senza si siamo sia sono sta sto sua sue sugli sui sul sulla sulle sullo suo suoi ti tra " +
    "tu tua tuo tutti tutto un una uno va vi voglio vostra vostro",
  ro:
    "a acea aceasta acel acest aceste acesti ai al ale am are as asta ati au avea avem ca care cat " +
    "cate ce cea cei cel cele cine cu cum cand da daca dar de deci decat despre din dintre dintr doar " +
    "dupa ea ei el ele era este eu fara fi fie fiecare fost in inca intr intre isi il imi la le li lor " +
    "lui ma mai mea mei mele meu mi mult ne nici nimic noastra noi nostri nostru nu o ori pe pentru " +
    "pana prin sa sale sau se si sunt sub sunt ta te tu un una unde unei unor unui va vor voi vostru",
  fi:
    "ei ja joka jonka jos jota kanssa kuin kuinka kuka ketka kenen kun me mika mina minun minua minulla " +
    "minulle missa mista mihin milloin miksi miten mita mitka mukaan mutta myos ne niin niita noin " +
    "nyt ole olen olet oli olimme olin olla ollut on ovat paljonko se sen siina sina sinun siita " +
    "sita taa tai tama tassa te tuo vai vain vaan voi voin han hanen he heidan ennen ilman jalkeen",
  hu:
    "a abban ahhoz ahogy aki akik akkor alatt amely ami amikor az azok azon azt be csak de e ebben egy " +
    "egyik el en engem es et ez ezek ezt fel hanem hany hogy hogyan hol honnan hova hozza igen is itt " +
    "kell ki kik le lesz mar meg melyik mely mennyi mert mi miert mikor mint mit mondta most na nagyon " +
    "ne nekem nem nincs o ok ott pedig s sem szamara tehat te ti tobb ugy utan vagy vagyok van vannak " +
    "volt voltak volna",
  tr:
    "acaba ama ancak bana bazi ben beni benim bir biri biz bizim bu buna bunu bunun cok cunku da daha " +
    "de degil diye en gibi hangi hangisi hem hep her hic icin ile ise kac kadar ki kim kime kimin " +
    "kimden mi mu mı mü ne neden nerede nereden nereye ne nasil niye o olan olarak oldu olur ona onu " +
    "onun sen senin siz su ve veya var vardi ya yok zaman",
  ru:
    "а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для " +
    "до его ее если есть еще же за зачем здесь и из или им их к как какая какие какое какой каком " +
    "какую ко когда кого кому кто куда ли меня мне мной мое моего моей моем мои моих мой мою моя мы на " +
    "над надо нам нас наш наша наше нашего нашей наши не него нее нет ни них но о об он она они оно " +
    "от откуда очень по под почему при про с сколько со так также там то тоже только ты у уже чего " +
    "чей чем что чтобы чья эта эти это этого этой этом этот я",
  uk:
    "а або але без був була були було бути в вас вже ви від він вона вони воно все всі де для до " +
    "є за з зі і із їх її його й як яка яке який яку які коли кого кому куди ким ми мене мені мій моя " +
    "моє мої моєї моєму на нам нас наш наша не ні ну о об по під при про с свій скільки та так також " +
    "там те ти то тому у хто це цей ця чи чим чого чому що щоб я",
  el:
    "και ο η το οι τα του της των τον την στο στη στην στον στα στις στους με σε για απο που πως ποιος " +
    "ποια ποιο ποιον ποτε τι ποσο ποσα ποσες γιατι ειναι ειμαι εχω εχει εχουμε ειχε θα να δεν μη μην " +
    "μου σου μας σας τους αυτο αυτη αυτος ενα ενας μια αλλα οταν οπου οπως ως κατα μετα πριν πολυ",
} as const;

/** The same for languages whose words tell their language by the script. */
export const STOP_WORDS_OF_SCRIPTS: readonly string[] = [
  // Arabic, without vowel signs, hamzas and final forms.
  "في من الي علي عن مع عند عندي عندنا عندما ما ماذا متي اين كيف كم كل هل هو هي هم هذا هذه ذلك تلك التي " +
  "الذي الذين اي ايه لماذا لمن مين بماذا او ان انا نحن انت كان كانت يكون لا لم لن ليس قد ثم بعد قبل منذ " +
  "حتي اذا بين يا و ف ب ل ك فيها فيه لها له به بها منها معه معي هناك هنا الا سوف لان يمكن يمكنني يجب " +
  "ايضا جدا فقط عاده التي اثناء بسبب الان",
  // Hebrew.
  "של את על עם אל זה זו זאת אני אתה את הוא היא אנחנו הם הן לא כן מה מי איפה מתי איך כמה למה איזה איזו אילו " +
  "יש אין היה היתה היו גם רק או כי אם אבל לי לך לו לה לנו להם שלי שלך שלו שלה שלנו כל מאוד עד בין אחרי לפני",
  // Hindi, without the dots below.
  "का के की को से में मे पर और या एक यह वह ये वे इस उस इन उन जो कि तो भी ही है हैं हूँ हूं हो था थी थे होता होती होते " +
  "होगा होगी होंगे मैं मैने मैंने हम हमें हमने हमारा हमारी हमारे मुझे मुझको मेरा मेरी मेरे तुम आप आपका अपना अपनी अपने " +
  "उनका उनकी उनके उन्हें उसका उसकी उसके उसे क्या कौन कौनसा सा सी किस किसे किसी किसका किसकी किसके किसको किसने " +
  "किससे कब कहाँ कहां कैसे कैसा कैसी क्यों कितना कितनी कितने ने लिए वाला वाली वाले नहीं न मत कर करना करता करती करते " +
  "करूँ करके किया गया गई गए रहा रही रहे जा जाता जाती जाते साथ तक बाद पहले फिर सिर्फ जब तब अब",
];
