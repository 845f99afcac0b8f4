package rerank

// Listing describes a reranker to people, and to clients that resolve names.
type Listing struct{ ID, Name, Description string }

// Listed returns the rerankers that a query can name.
func Listed() []Listing {
	return []Listing{
		{defaultID, DefaultName, "The default. Without a cross-encoder in this installation it keeps the order of hybrid " +
			"retrieval and maps its score to 0..1, comparable between queries; any language. Instructions are ignored."},
		{mmrID, "Maximum Marginal Relevance Reranker", "Trades relevance for diversity: type mmr, diversity_bias 0 to 1."},
	}
}
