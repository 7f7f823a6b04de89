@main
enum VerificationMain {
    static func main() {}
}
