;;; Callers of every kind, each with an allocation of a number of its own, so that chains can be told by their counts:
;;; methods, SETF functions, local functions, lambdas, handlers, threads. A call that is the last thing its caller does
;;; may be a jump, which leaves no frame: hence the NILs.

(defpackage :shapes (:use :cl) (:export #:run))
(in-package :shapes)

(defvar *kept* nil)
(defun keep (x) (setq *kept* x))
(declaim (notinline keep leaf mapper locals recurse protect handle pass jump walk |MixedCase| (setf label) run))

(defun leaf (n) (let ((r nil)) (dotimes (i n) (setq r (cons i r))) (keep r)))

(defclass shape () ((label :initarg :label)))
(defclass square (shape) ())
(defgeneric area (shape))
(defmethod area ((s shape)) (leaf 11) nil)
(defmethod area ((s square)) (leaf 12) (call-next-method))
(defmethod area :before ((s shape)) (leaf 13) nil)
(defmethod area :around ((s square)) (leaf 14) (call-next-method))
(defgeneric (setf side) (value shape))
(defmethod (setf side) (value (s square)) (leaf 15) value)

(defun (setf label) (value s) (leaf 21) (setf (slot-value s 'label) value))
(defun |MixedCase| () (leaf 22) nil)

(defun mapper () (mapc (lambda (x) (leaf x) nil) '(31)) nil)
(defun locals ()
  (labels ((deeper (n) (if (zerop n) (leaf 41) (deeper (1- n))) nil))
    (declare (notinline deeper))
    (flet ((helper! (n) (leaf n) (leaf 43) nil))
      (declare (notinline helper!))
      (deeper 3)
      (helper! 42)
      nil)))
(defun recurse (n) (if (zerop n) (leaf 51) (recurse (1- n))) nil)

(defun protect () (unwind-protect (leaf 61) (leaf 62)) nil)
(defun handle () (handler-case (error "no") (error (c) (declare (ignore c)) (leaf 63) nil)))
(defun pass () (handler-bind ((warning (lambda (c) (leaf 64) (muffle-warning c)))) (warn "no") (leaf 65)) nil)
(defun jump () (catch 'out (walk)) (leaf 66) nil)
(defun walk () (leaf 67) (throw 'out nil))

(defun run ()
  (let ((s (make-instance 'square)))
    (area s)
    (setf (side s) 1)
    (setf (label s) 2))
  (|MixedCase|)
  (mapper)
  (locals)
  (recurse 2)
  (protect)
  (handle)
  (pass)
  (jump)
  (eval '(leaf 71))
  (apply #'leaf '(72))
  (let ((thread (mp:process-run-function 'worker (lambda () (leaf 81) nil))))
    (mp:process-join thread))
  (format t "done~%"))

(run)
