package file

import (
	"context"
	"encoding/json"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/extract/bitmap"
)

const imageDescription = "Shows you an image of this session by its artifact_id: PNG, JPEG, GIF or WebP of at most 2 MiB. " +
	"You see it in a message behind the results, and it stays in view from then on, so call this once for each image."

// newImage returns the type image_read.
func newImage(s *schema.Schema) tool.Type {
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := unconfigured(configuration); err != nil {
			return nil, err
		}
		return &tool.Tool{Name: Image, Description: imageDescription, Schema: s, Repeat: tool.Reads, Run: look}, nil
	}
}

// seen is the output of image_read.
type seen struct {
	Reference
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Detail string `json:"detail"`
	Note   string `json:"note"`
}

func look(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	args := struct {
		ID     string `json:"artifact_id"`
		Detail string `json:"detail"`
	}{Detail: "auto"}
	if err := arguments(&c, &args); err != nil {
		return nil, err
	}
	if !c.Images {
		return nil, &tool.Failure{Class: tool.InvalidConfiguration, Text: "this language model reads no images (it is registered without the capability image_support)"}
	}
	a, err := c.Files.Get(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	if a.Size > bitmap.MaxBytes {
		return nil, invalid("%s (%s) can't be shown: %s", a.ID, a.Filename, bitmap.TooLarge(a.Size))
	}
	_, data, err := c.Files.Open(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = data.Close() }()
	all, err := upTo(data, bitmap.MaxBytes)
	if err != nil {
		return nil, err
	}
	info, err := bitmap.Inspect(all)
	if err != nil {
		return nil, invalid("%s (%s) can't be shown: %s", a.ID, a.Filename, err)
	}
	c.Files.Show(artifact.Shown{ID: a.ID, Detail: args.Detail})
	out := seen{reference(&a), info.Width, info.Height, args.Detail, "The image is in the message behind the results."}
	out.MIME = info.MIME
	return encode(out)
}
