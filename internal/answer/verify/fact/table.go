package fact

import (
	"strconv"
	"strings"
)

// table reads "word word=value …": words before an equals sign have its value.
func table(text string) map[string]float64 {
	m := map[string]float64{}
	for entry := range strings.FieldsSeq(text) {
		words, value, _ := strings.Cut(entry, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			panic("a table of numbers holds " + entry)
		}
		for w := range strings.SplitSeq(words, ",") {
			m[w] = v
		}
	}
	return m
}

func set(text string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		m[strings.ReplaceAll(w, "_", " ")] = true
	}
	return m
}

// cardinals are the number words of English, German, French, Spanish, Portuguese and Russian. Words that mean much
// else (French "neuf", Spanish "once" against English) are left out or stand for the more frequent meaning.
var cardinals = table(`
	zero,null,nul,cero,ноль=0
	one,eins,ein,eine,einen,einem,einer,un,une,uno,una,um,uma,один,одна,одно=1
	two,zwei,deux,dos,dois,duas,два,две,двух,twice=2 three,drei,trois,tres,três,три,трёх,трех=3
	four,vier,quatre,cuatro,quatro,четыре,четырех,четырёх=4 five,fünf,cinq,cinco,пять,пяти=5 six,sechs,seis,шесть,шести=6
	seven,sieben,sept,siete,sete,семь,семи=7 eight,acht,huit,ocho,oito,восемь,восьми=8 nine,neun,nueve,nove,девять,девяти=9
	ten,zehn,dix,diez,dez,десять,десяти=10 eleven,elf,onze,одиннадцать=11 twelve,zwölf,douze,doce,doze,двенадцать,dozen,dutzend=12
	thirteen,dreizehn,treize,trece,treze,тринадцать=13 fourteen,vierzehn,quatorze,catorce,catorze,четырнадцать=14
	fifteen,fünfzehn,quinze,quince,пятнадцать=15 sixteen,sechzehn,seize,dieciséis,dezesseis,шестнадцать=16
	seventeen,siebzehn,diecisiete,dezessete,семнадцать=17 eighteen,achtzehn,dieciocho,dezoito,восемнадцать=18
	nineteen,neunzehn,diecinueve,dezenove,девятнадцать=19 twenty,zwanzig,vingt,vingts,veinte,vinte,двадцать,двадцати=20
	veintiuno=21 veintidós=22 veintitrés=23 veinticuatro=24 veinticinco=25 veintiséis=26 veintisiete=27 veintiocho=28 veintinueve=29
	thirty,dreißig,trente,treinta,trinta,тридцать,тридцати=30 forty,vierzig,quarante,cuarenta,quarenta,сорок,сорока=40
	fifty,fünfzig,cinquante,cincuenta,cinquenta,пятьдесят=50 sixty,sechzig,soixante,sesenta,sessenta,шестьдесят=60
	seventy,siebzig,setenta,семьдесят=70 eighty,achtzig,ochenta,oitenta,восемьдесят=80 ninety,neunzig,noventa,девяносто=90
	hundred,hundreds,hundert,einhundert,cent,cents,cien,ciento,cem,cento,сто=100
	doscientos,doscientas,duzentos,двести=200 trescientos,trezentos,триста=300 quinientos,quinhentos,пятьсот=500
	thousand,thousands,tausend,eintausend,mille,mil,тысяча,тысячи,тысяч=1000
	million,millions,millionen,millón,millones,milhão,milhões,миллион,миллиона,миллионов=1000000
	billion,billions,milliarde,milliarden,milliard,milliards,миллиард,миллиарда,миллиардов=1000000000
	trillion,trillions,billionen=1000000000000
	second,zweite,zweiten,deuxième,segundo,segunda,второй=2 third,dritte,dritten,troisième,tercero,terceiro,третий=3
	fourth,vierte,quatrième,cuarto,четвёртый=4 fifth,fünfte,cinquième,quinto=5 sixth=6 seventh=7 eighth=8 ninth=9 tenth=10
	first,erste,ersten,erster,premier,première,primero,primera,primeiro,primeira,первый=1`)

// ordinalWords mean a place, but also a part or a moment, so they need no support.
var ordinalWords = set(`first second third fourth fifth erste ersten erster zweite zweiten dritte dritten vierte fünfte premier première
	deuxième troisième primero primera segundo segunda primeiro primeira tercero terceiro cuarto quarto quinto первый второй третий twice cents`)

// foreign are number words of other languages that English uses for something else.
var foreign = set(`seize quince once elf mil un une um dos mille cent cents dix tres sept cem zehn eins trece onze sete mil ein`)

// endings may follow the digits of a number without a space.
var endings = set(`st nd rd th s er e ème c f x º ª м й го-`)

// openings may stand before a number with a hyphen; the two are not a name.
var openings = set(`mid pre post late early non sub under over`)

// joints may stand inside a number in words.
var joints = set(`and y e et und`)

// signs are the number signs of Chinese and Japanese.
var signs = table(`〇,零=0 一=1 二,两,兩=2 三=3 四=4 五=5 六=6 七=7 八=8 九=9 十=10 百=100 千=1000 万,萬=10000 亿,億=100000000 兆=1000000000000`)

// scales multiply the digits before them.
var scales = table(`
	thousand,thousands,tausend,mille,mil,тыс,тысяч,тысячи,тысяча,हज़ार,हजार,ألف,آلاف,千,천=1e3 k=1e3
	million,millions,millionen,mio,mn,millón,millones,milhão,milhões,миллион,миллиона,миллионов,млн,مليون,ملايين=1e6
	billion,billions,bn,milliarde,milliarden,mrd,milliard,milliards,миллиард,миллиарда,миллиардов,млрд,مليار=1e9
	trillion,trillions=1e12 万,萬,만=1e4 亿,億,억=1e8 兆,조=1e12 लाख=1e5 करोड़,करोड=1e7 hundred,hundert=100`)

// months by their names.
var months = func() map[string]int {
	m := map[string]int{}
	for w, v := range table(`
		january,jan,januar,janvier,enero,janeiro,января,январь,يناير,जनवरी=1 february,feb,februar,février,febrero,fevereiro,февраля,февраль,فبراير,फरवरी=2
		march,märz,mars,marzo,março,марта,март,مارس,मार्च=3 april,avril,abril,апреля,апрель,أبريل,अप्रैल=4
		may,mai,mayo,maio,мая,май,مايو,मई=5 june,jun,juni,juin,junio,junho,июня,июнь,يونيو,जून=6
		july,jul,juli,juillet,julio,julho,июля,июль,يوليو,जुलाई=7 august,aug,août,agosto,августа,август,أغسطس,अगस्त=8
		september,sept,sep,septembre,septiembre,setembro,сентября,сентябрь,سبتمبر,सितंबर=9
		october,oct,oktober,okt,octobre,octubre,outubro,октября,октябрь,أكتوبر,अक्टूबर=10
		november,nov,novembre,noviembre,novembro,ноября,ноябрь,نوفمبر,नवंबर=11
		december,dec,dezember,dez,décembre,diciembre,dezembro,декабря,декабрь,ديسمبر,दिसंबर=12`) {
		m[w] = int(v)
	}
	return m
}()

// ambiguous are months whose names also have another meaning.
var ambiguous = set(`may march mars mai mayo jan dec sep dez мая май август august jun jul`)

var percents = set(`percent per_cent pct prozent pour_cent por_ciento por_cento процент процента процентов percentage пр パーセント 퍼센트 프로 प्रतिशत بالمئة بالمائة في_المئة`)

var currencies = map[string]string{"$": "usd", "€": "eur", "£": "gbp", "¥": "yen", "₹": "inr", "₽": "rub", "₩": "won"}

// units maps the words for a unit to one name. Other units are not compared.
var units = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`km kilometer kilometers kilometre kilometres kilometern километр километров километра 公里 キロ
m meter meters metre metres metern mètres metros метров метра 米
cm centimeter centimeters centimetre centimetres zentimeter
mm millimeter millimeters millimetre millimetres
mile miles mi meilen
ft foot feet
inch inches
kg kilogram kilograms kilogramm kilogrammes kilogramos quilogramas килограмм килограммов
g gram grams gramm grammes gramos
mg milligram milligrams milligramm
ton tons tonne tonnes tonnen toneladas тонн
l liter liters litre litres litern litros литров
ml milliliter milliliters
bar
psi
second seconds sec secs sekunde sekunden secondes segundos секунд
minute minutes min mins minuten minutos минут
hour hours hr hrs h stunde stunden heure heures hora horas час часов часа
day days tag tage tagen jour jours día días dia dias день дней дня
week weeks woche wochen semaine semaines semana semanas недель
month months monat monate monaten mois meses месяцев
year years jahr jahre jahren an ans année années año años ano anos лет год года
decade decades jahrzehnt jahrzehnte
century centuries
usd dollar dollars dólares доллар долларов
eur euro euros
gbp pound pounds pfund
volt volts v
watt watts w
kw kilowatt kilowatts
mw megawatt megawatts
gw gigawatt gigawatts
hz hertz
khz kilohertz
mhz megahertz
ghz gigahertz
celsius
fahrenheit
kelvin
kb kilobytes
mb megabytes megabyte
gb gigabytes gigabyte
tb terabytes`) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

// measure is what a unit measures, and how much of it.
type measure struct {
	of   string
	size float64
}

// measures holds the units that can be converted into each other.
var measures = func() map[string]measure {
	m := map[string]measure{}
	for of, sizes := range map[string]string{
		"time": "second=1 minute=60 hour=3600 day=86400 week=604800", "calendar": "month=1 year=12 decade=120 century=1200",
		"length": "mm=0.001 cm=0.01 m=1 km=1000", "mass": "mg=0.000001 g=0.001 kg=1 ton=1000", "volume": "ml=0.001 l=1",
		"power": "watt=1 kw=1000 mw=1000000 gw=1000000000", "frequency": "hz=1 khz=1000 mhz=1000000 ghz=1000000000",
		"temperature": "celsius=1 degree=1",
	} {
		for unit, size := range table(sizes) {
			m[unit] = measure{of, size}
		}
	}
	return m
}()

var (
	degrees      = set(`degree degrees grad grados graus degrés градусов градуса`)
	scalesOfHeat = set(`celsius fahrenheit kelvin`)
)

// rough are words before a number that mean that it is not exact.
var rough = set(`about around roughly approximately nearly almost over some circa etwa rund fast ungefähr environ près casi unos cerca около почти`)
