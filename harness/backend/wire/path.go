package wire

import "assay/model/backend"

// Path is the gRPC path of a method, "" for one that has none.
func Path(m backend.Method) string {
	switch m {
	case backend.MethodPublish:
		return publishPath
	case backend.MethodQuery:
		return queryPath
	case backend.MethodNewest:
		return newestPath
	case backend.MethodSubscribe:
		return subscribePath
	case backend.MethodStatic:
		return staticPath
	case backend.MethodConfiguration:
		return configurationPath
	case backend.MethodHealth:
		return healthPath
	default:
		return ""
	}
}
