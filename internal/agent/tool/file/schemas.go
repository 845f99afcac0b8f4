package file

// shape is what a tool takes and returns, as JSON Schemas.
type shape struct{ arguments, output string }

// schemas are the shapes of the tools.
var schemas = map[string]shape{
	Create: {`{
	"type": "object",
	"properties": {
		"filename": {"type": "string", "minLength": 1, "maxLength": 255, "description": "The name of the file with its ending, as in report.md."},
		"content": {"type": "string", "description": "What the file holds: text."},
		"mime_type": {"type": "string", "maxLength": 255, "description": "The media type; left out, it follows from the ending of the name."},
		"description": {"type": "string", "maxLength": 1000, "description": "What the file is, in a sentence."}
	},
	"required": ["filename", "content"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "description": "The id of the file."},
		"filename": {"type": "string"},
		"mime_type": {"type": "string"},
		"size_bytes": {"type": "integer"}
	},
	"required": ["artifact_id", "filename", "mime_type", "size_bytes"]
}`},
	Read: {`{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the file, as in art_report_x7k2."},
		"encoding": {"type": "string", "enum": ["raw", "base64"], "description": "raw, the default, for text; base64 for everything else."},
		"start_line": {"type": "integer", "minimum": 1, "description": "The first line to read, counted from 1; left out with end_line, the whole file is read."},
		"end_line": {"type": "integer", "minimum": 1, "description": "The last line to read, itself included."}
	},
	"required": ["artifact_id"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "description": "The id of the file."},
		"filename": {"type": "string"},
		"mime_type": {"type": "string"},
		"size_bytes": {"type": "integer"},
		"encoding": {"type": "string", "enum": ["raw", "base64"]},
		"metadata": {"type": "object"},
		"start_line": {"type": "integer", "description": "Of a range, like the next two."},
		"end_line": {"type": "integer"},
		"total_lines": {"type": "integer"},
		"truncated": {"type": "boolean", "description": "Whether something is left out; note says what."},
		"note": {"type": "string"},
		"content": {"type": "string"}
	},
	"required": ["artifact_id", "filename", "mime_type", "size_bytes", "encoding", "metadata", "content"]
}`},
	Grep: {`{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the file, as in art_report_x7k2."},
		"pattern": {"type": "string", "minLength": 1, "description": "A regular expression of the syntax RE2, searched in each line."},
		"grep_options": {
			"type": "array", "items": {"type": "string"}, "maxItems": 20,
			"description": "Options of grep: -i ignores case, -n shows line numbers, -v inverts, -c counts, -w whole words, -o only what matches; with a number -m stops behind so many lines, -A, -B and -C show lines behind, before and around, as in -A 3."
		}
	},
	"required": ["artifact_id", "pattern"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string"},
		"match_count": {"type": "integer", "description": "How many lines match."},
		"truncated": {"type": "boolean", "description": "Whether something is left out; note says what."},
		"note": {"type": "string"},
		"content": {"type": "string", "description": "The lines."}
	},
	"required": ["artifact_id", "match_count", "content"]
}`},
	Query: {`{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of a file with JSON, as in art_orders_json_x7k2."},
		"expression": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "A program in the language jq, such as .orders[] | select(.total > 100) | .id"}
	},
	"required": ["artifact_id", "expression"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string"},
		"result_count": {"type": "integer", "description": "How many results there are here."},
		"truncated": {"type": "boolean", "description": "Whether something is left out; note says what."},
		"note": {"type": "string"},
		"result": {"description": "The result, or the list of them if there are several or none."}
	},
	"required": ["artifact_id", "result_count", "result"]
}`},
	Image: {`{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the image, as in art_chart_png_x7k2."},
		"detail": {"type": "string", "enum": ["auto", "low", "high"], "description": "How closely to look: low is enough for an overview and cheaper, high is for small print; auto, the default, leaves it open."}
	},
	"required": ["artifact_id"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "description": "The id of the file."},
		"filename": {"type": "string"},
		"mime_type": {"type": "string"},
		"size_bytes": {"type": "integer"},
		"width": {"type": "integer", "description": "In pixels, like the height."},
		"height": {"type": "integer"},
		"detail": {"type": "string", "enum": ["auto", "low", "high"]},
		"note": {"type": "string"}
	},
	"required": ["artifact_id", "filename", "mime_type", "size_bytes", "width", "height", "detail"]
}`},
	Conversion: {`{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "minLength": 1, "description": "The id of the file to convert, as in art_report_pdf_x7k2."},
		"output_format": {"type": "string", "enum": ["markdown", "structured_document"], "description": "markdown, the default, to read it; structured_document, JSON with sections and tables, to index it in a corpus."},
		"description": {"type": "string", "maxLength": 1000, "description": "What the new file is, in a sentence."}
	},
	"required": ["artifact_id"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"artifact_id": {"type": "string", "description": "The id of the file."},
		"filename": {"type": "string"},
		"mime_type": {"type": "string"},
		"size_bytes": {"type": "integer"},
		"output_format": {"type": "string", "enum": ["markdown", "structured_document"]},
		"original_format": {"type": "string", "description": "What was read, such as pdf."},
		"original_artifact_id": {"type": "string"}
	},
	"required": ["artifact_id", "filename", "mime_type", "size_bytes", "output_format", "original_format", "original_artifact_id"]
}`},
	DocumentText: {`{
	"type": "object",
	"properties": {
		"document_id": {"type": "string", "minLength": 1, "description": "The id of the document, as results of a search have it."},
		"corpus_key": {"type": "string", "minLength": 1, "description": "The key of the corpus that the document is in."}
	},
	"required": ["document_id", "corpus_key"],
	"additionalProperties": false
}`, `{
	"type": "object",
	"properties": {
		"document_id": {"type": "string"},
		"corpus_key": {"type": "string"},
		"text": {"type": "object", "description": "The file with the text.", "properties": {"artifact_id": {"type": "string", "description": "The id of the file."}, "filename": {"type": "string"}, "mime_type": {"type": "string"}, "size_bytes": {"type": "integer"}}},
		"metadata": {"type": "object", "description": "The file with the metadata."}
	},
	"required": ["document_id", "corpus_key", "text"]
}`},
}
