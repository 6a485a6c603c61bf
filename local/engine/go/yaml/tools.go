//go:build tools

// Package yaml pins the language host that runs programs of YAML in tests.
package yaml

import _ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
