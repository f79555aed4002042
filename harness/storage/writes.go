package storage

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Writes returns a function that tells which revisions may have changed objects of a resource in a cluster; nil if the
// cluster cannot be asked.
func Writes(cluster clusters.Cluster) func(ctx context.Context, resource schema.GroupResource, after, upTo int64) (
	[]int64, error,
) {
	lister, able := cluster.(clusters.WriteLister)
	if !able {
		return nil
	}
	return func(ctx context.Context, resource schema.GroupResource, after, upTo int64) ([]int64, error) {
		written, err := lister.Written(ctx, after, upTo)
		if err != nil {
			return nil, err
		}
		var revisions []int64
		for revision, keys := range written {
			if slices.ContainsFunc(keys, func(key string) bool { return mayBe(key, resource) }) {
				revisions = append(revisions, revision)
			}
		}
		return revisions, nil
	}
}

// mayBe reports whether a key may be of an object of a resource: it is, or its folder is unknown. One folder can hold
// resources of several groups.
func mayBe(key string, resource schema.GroupResource) bool {
	if !strings.HasPrefix(key, Prefix) {
		return false
	}
	named, _ := Named(key)
	if strings.Contains(named.Group, ".") && strings.HasPrefix(key, Prefix+named.Group+"/") {
		return named == resource
	}
	_, known := groups()[named.Resource]
	return !known || named.Resource == resource.Resource
}
