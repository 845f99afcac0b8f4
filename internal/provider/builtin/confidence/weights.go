package confidence

// What bench/answer -fit prints.
var (
	held         = Weights{-6.255, [count]float64{0.338, -1.733, 3.213, 1.527, 2.719, 1.567, -6.237, 1.004, 0.97, 0.073, 8.564, 0, 0, 0, -2.176}}
	foreignHeld  = Weights{-3.156, [count]float64{1.215, 3.7, 0, 0.492, 4.693, 1.144, -4.177, -4.825, 2.73, 0, 0, 0, 0, 0, 0}}
	right        = Weights{-9.226, [count]float64{-0.411, -3.242, 3.122, 5.435, -1.75, -0.368, -0.372, -2.128, 0.302, -0.201, 5.035, 3.912, 3.384, 0.432, -1.454}}
	foreignRight = Weights{-9.97, [count]float64{1.631, -2.984, 0.898, 3.971, -0.066, -1.11, 1.639, -0.579, 1.399, 0, 0, 5.237, 6.05, -1.255, 0}}
)

// The odds below which the passages hold no answer, by language.
const (
	least        = -0.61
	unknownLeast = -1.20
)

var leasts = map[string]float64{"deu": -1.04, "spa": -0.38, "rus": -1.07, "zho": -0.94, "ara": -1.33, "hin": -0.89}
