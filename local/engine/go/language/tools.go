//go:build tools

// Package language pins what local/engine builds.
package language

import _ "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python"
