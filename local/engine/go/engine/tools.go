//go:build tools

// Package engine pins what local/engine builds.
package engine

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
