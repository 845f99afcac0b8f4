package fact

// IsName reports whether a word, in lower case, is a well-known name in English, so that it is one at the beginning of a sentence,
// too. Names that are also words ("mark", "may") are none.
func IsName(word string) bool { return knownNames[word] }

var knownNames = set(`
	afghanistan albania algeria angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus belgium bolivia bosnia botswana
	brazil britain bulgaria cambodia cameroon canada chile china colombia congo croatia cuba cyprus denmark ecuador egypt england eritrea estonia
	ethiopia finland france gabon germany ghana greece greenland guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq
	ireland israel italy jamaica japan jordan kazakhstan kenya korea kosovo kuwait laos latvia lebanon lesotho liberia libya lithuania luxembourg
	macedonia madagascar malawi malaysia mali malta mauritius mexico moldova mongolia montenegro morocco mozambique myanmar namibia nepal netherlands
	nicaragua niger nigeria norway oman pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda scotland
	senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan tajikistan tanzania thailand tunisia turkey
	uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe
	africa america antarctica asia europe arctic atlantic pacific mediterranean sahara siberia himalaya alps andes
	alabama alaska arizona arkansas california colorado connecticut florida georgia hawaii illinois indiana iowa kansas kentucky louisiana maine
	maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah
	vermont virginia wisconsin wyoming ontario quebec scandinavia bavaria catalonia queensland
	amsterdam ankara athens atlanta baghdad bangkok barcelona beijing beirut belgrade berlin bern birmingham bogota boston brisbane brussels bucharest
	budapest cairo calcutta cambridge cardiff caracas chicago cologne copenhagen dallas damascus delhi denver detroit dresden dubai dublin
	edinburgh florence frankfurt geneva glasgow hamburg hanoi havana helsinki hiroshima houston istanbul jakarta jerusalem johannesburg kabul
	karachi kyiv kiev lagos leeds leipzig lima lisbon liverpool london lyon madrid manchester manila marseille melbourne miami milan minsk
	montreal moscow mumbai munich nairobi naples nuremberg osaka oslo ottawa oxford paris philadelphia prague rome rotterdam santiago seattle
	seoul shanghai sheffield sofia stockholm stuttgart sydney tehran tokyo toronto tripoli tunis turin vancouver venice vienna warsaw washington
	wellington zagreb zurich danube rhine thames amazon nile volga ganges seine elbe
	aaron abraham adam albert alex alexander alfred alice amanda amy andrea andrew andy angela anna anne anthony antonio arthur barbara ben benjamin
	bernard betty bob brian bruce carl carlos carol caroline catherine charles charlie charlotte chris christian christina christine christopher claire
	claude colin craig daniel david deborah dennis diana donald dorothy douglas edgar edith edward elizabeth ellen emily emma eric ernest ethan eva
	evelyn fiona florence francis frederick gary george gerald gordon graham gregory hannah harold harry heather helen henry herbert howard hugh ian
	isaac isabel jack jacob james jane janet jason jean jeff jennifer jeremy jessica jim joan joe john johnny jonathan jose joseph joshua juan judith
	julia julian julie karen karl kate katherine keith kelly kenneth kevin kim laura lawrence lee leo leonard lewis linda lisa louis louise lucy luis
	luke margaret maria marie martha martin mary matthew maria michael michelle mike nancy neil nicholas nicole nigel nina olivia oliver oscar patricia
	patrick paul pedro peter philip rachel ralph raymond rebecca richard robert robin roger ronald rosa roy russell ruth ryan sally samuel sandra
	sarah scott sean simon sofia sophia sophie stanley stephanie stephen steve steven stuart susan sylvia terry theodore thomas tim timothy tom tony
	vincent walter wayne wendy william
	adams anderson armstrong baxter bennett brandt campbell carter churchill clark clinton collins cooper darwin davis edison edwards einstein
	evans faraday freud gandhi garcia gauss hitler jackson jefferson jenkins johnson jones kennedy keynes lincoln lopez macdonald marx mitchell mozart
	murphy murray nelson newton nixon obama parker patterson peterson phillips picasso putin reagan reynolds roberts robertson robinson roosevelt
	shakespeare simpson smith stalin taylor tesla thatcher thompson truman trump tudor turner victoria watson williams wilson
	google microsoft apple facebook twitter ibm intel sony toyota volkswagen siemens boeing airbus nasa nato unesco unicef linux windows android
	monday tuesday wednesday thursday friday saturday sunday christmas easter ramadan
	american british english french german italian spanish portuguese russian chinese japanese korean indian dutch swedish norwegian danish finnish
	greek turkish polish czech hungarian austrian swiss belgian canadian australian african european asian mexican brazilian egyptian israeli
	iranian iraqi ukrainian arab jewish muslim buddhist catholic protestant`)
