package httpapi

// CheckFacts is what New holds the operations of the contract to.
var CheckFacts = checkFacts
