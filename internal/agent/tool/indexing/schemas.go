package indexing

// corpusArgument is the argument that all of the tools have.
const corpusArgument = `"corpus_key": {"type": "string", "minLength": 1, "description": "The key of the corpus."}`

const reindexArgument = `"reindex": {"type": ["boolean", "null"], "description": "Replace documents that are in the corpus under these ids; left out, they stay."}`

// arguments are the JSON Schemas of what the model sends; null is what was left out. Members of documents are held to the rules of the service for documents,
// so that one that breaks them fails for itself.
var arguments = map[string]string{
	Core: `{
	"type": "object",
	"properties": {
		` + corpusArgument + `,
		"documents": {
			"type": "array", "minItems": 1, "maxItems": 100,
			"description": "The documents, each with document or artifact_id.",
			"items": {
				"type": "object",
				"properties": {
					"document_id": {"type": ["string", "null"], "minLength": 1, "maxLength": 1024, "description": "The id of the document; left out, that in the document, else the artifact_id."},
					"document": {
						"type": ["object", "null"],
						"description": "The document.",
						"properties": {
							"id": {"type": ["string", "null"], "description": "The id of the document."},
							"metadata": {"type": ["object", "null"], "description": "What filters of searches see as doc.<name>."},
							"document_parts": {
								"type": "array", "description": "At least one. Each is exactly one possible result of a search.",
								"items": {
									"type": "object",
									"properties": {
										"text": {"type": "string", "description": "What is searched: a paragraph or a few sentences."},
										"metadata": {"type": ["object", "null"], "description": "What filters of searches see as part.<name>."},
										"context": {"type": ["string", "null"], "description": "Text around it, which is shown with it."}
									}
								}
							}
						}
					},
					"artifact_id": {"type": ["string", "null"], "minLength": 1, "description": "A file of this session in the place of document."}
				},
				"additionalProperties": false
			}
		},
		` + reindexArgument + `
	},
	"required": ["corpus_key", "documents"],
	"additionalProperties": false
}`,
	Structured: `{
	"type": "object",
	"properties": {
		` + corpusArgument + `,
		"document_id": {"type": ["string", "null"], "minLength": 1, "maxLength": 1024, "description": "The id of the document; left out, that in the file, else one is made."},
		"type": {"type": ["string", "null"], "enum": ["document", "structured", null], "description": "document, and may be left out."},
		"title": {"type": ["string", "null"], "description": "The title, which is searched, too."},
		"description": {"type": ["string", "null"], "description": "What the document is, which is searched, too."},
		"metadata": {"type": ["object", "null"], "description": "What filters of searches see as doc.<name>."},
		"custom_dimensions": {"type": ["object", "null"], "description": "Numbers by the names of the corpus's custom dimensions."},
		"sections": {
			"type": ["array", "null"], "minItems": 1, "description": "The sections in reading order.",
			"items": {
				"type": "object",
				"properties": {
					"id": {"type": ["integer", "null"], "description": "Becomes section in the metadata of the parts."},
					"title": {"type": ["string", "null"], "description": "The title."},
					"text": {"type": "string", "description": "The text, which is cut into parts."},
					"metadata": {"type": ["object", "null"], "description": "What filters of searches see as part.<name>."},
					"images": {
						"type": ["array", "null"], "description": "Images that stand in the section.",
						"items": {
							"type": "object",
							"properties": {
								"id": {"type": ["string", "null"], "description": "The id of the image in the document."},
								"title": {"type": ["string", "null"], "description": "The title, which is searched."},
								"caption": {"type": ["string", "null"], "description": "The caption, which is searched."},
								"description": {"type": ["string", "null"], "description": "What is to be seen, which is searched."},
								"artifact_id": {"type": ["string", "null"], "description": "The file of this session that is the image."}
							}
						}
					},
					"tables": {"type": ["array", "null"], "description": "Tables: each {title, data: {headers, rows}}, with rows of cells such as {\"text_value\": \"a\"}.", "items": {"type": "object"}},
					"sections": {"type": ["array", "null"], "description": "Sections inside this one, with the same members.", "items": {"type": "object"}}
				}
			}
		},
		"chunking_strategy": {"type": ["object", "null"], "description": "How texts are cut: {\"type\": \"sentence_chunking_strategy\"}, which is the default, or {\"type\": \"max_chars_chunking_strategy\", \"max_chars_per_chunk\": 512}."},
		"artifact_id": {"type": ["string", "null"], "minLength": 1, "description": "A file of this session that is a structured document as JSON."},
		` + reindexArgument + `
	},
	"required": ["corpus_key"],
	"additionalProperties": false
}`,
	Delete: `{
	"type": "object",
	"properties": {
		` + corpusArgument + `,
		"document_ids": {"type": ["array", "null"], "maxItems": 1000, "items": {"type": "string"}, "description": "The ids of the documents."},
		"metadata_filter": {"type": ["string", "null"], "description": "A filter over the metadata of documents, as in doc.status = 'obsolete'."}
	},
	"required": ["corpus_key"],
	"additionalProperties": false
}`,
}

// status is the JSON Schema of what came of a document.
const status = `"document_id": {"type": "string", "description": "The id of the document."},
		"status": {"type": "string", "enum": ["indexed", "unchanged", "replaced", "failed"], "description": "What came of it."}`

// outputs are the JSON Schemas of what the tools return.
var outputs = map[string]string{
	Core: `{
	"type": "object",
	"properties": {
		"documents": {
			"type": "array", "description": "What came of each document, in the order of the call.",
			"items": {
				"type": "object",
				"properties": {` + status + `, "error": {"type": "string", "description": "Why it failed."}},
				"required": ["document_id", "status"]
			}
		},
		"retryable": {"type": "boolean", "description": "Whether the same call may succeed later."}
	},
	"required": ["documents", "retryable"]
}`,
	Structured: `{
	"type": "object",
	"properties": {` + status + `},
	"required": ["document_id", "status"]
}`,
	Delete: `{
	"type": "object",
	"properties": {
		"deleted": {"type": "integer", "description": "How many documents were deleted."},
		"skipped": {"type": "array", "items": {"type": "string"}, "description": "The ids that no document has, or whose document doesn't pass the filter."},
		"failed": {
			"type": "array", "description": "Documents that stay, with the reason.",
			"items": {"type": "object", "properties": {"document_id": {"type": "string"}, "error": {"type": "string"}}, "required": ["document_id", "error"]}
		}
	},
	"required": ["deleted", "skipped", "failed"]
}`,
}
