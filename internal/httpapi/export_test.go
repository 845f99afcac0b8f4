package httpapi

// CheckRoles is what New holds the operations of the contract to.
var CheckRoles = checkRoles
