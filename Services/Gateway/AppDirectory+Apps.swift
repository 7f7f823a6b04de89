extension AppDirectory {
    /// The apps of a folder of `<app>.yaml` files. Their reader is not there yet: nothing can be served.
    init(folder: String) throws(GatewayError) {
        throw .noApps
    }
}
